"""The picture generator of the tiny model: the same seed draws the same picture, and every answer is true of it."""

from collections import Counter
from random import Random

import numpy as np
import pytest

from tinyvlm import courses, drawing, heldout, questions, scenes


def drawn(kind, count=40, size=(112, 112)):
    return [scenes.scene(Random(f"{kind} {index}"), *size, kind) for index in range(count)]


def answers(scene, kind):
    return {ask.answer for ask in scene.asks if ask.kind == kind}


@pytest.mark.parametrize("kind", courses.SCENE_KINDS)
def test_the_same_seed_draws_the_same_picture_and_asks_the_same(kind):
    one, other = (scenes.scene(Random(7), 112, 140, kind) for _ in range(2))
    assert np.array_equal(one.pixels, other.pixels)
    assert one.asks == other.asks
    assert one.pixels.shape == (112, 140, 3)
    assert one.pixels.dtype == np.uint8


@pytest.mark.parametrize("kind", ["one", "several", "composed"])
def test_counts_are_the_shapes_that_were_drawn(kind):
    for scene in drawn(kind):
        shapes = [mark for mark in scene.marks if mark.kind in drawing.SHAPES]
        assert answers(scene, "count") == {str(len(shapes))}


def test_colours_and_shapes_are_asked_only_where_one_answer_is_true():
    for scene in drawn("several"):
        for ask in scene.asks:
            if ask.kind == "colour":
                shape = ask.question.rstrip("?").split()[-1]
                assert [m.colour for m in scene.marks if m.kind == shape] == [ask.answer]
            if ask.kind == "shape":
                colour = next(name for name in drawing.COLOURS if name in ask.question)
                assert [m.kind for m in scene.marks if m.colour == colour] == [ask.answer]


def test_a_composed_answer_holds_count_colour_shape_and_number():
    for scene in drawn("composed"):
        shapes = [m for m in scene.marks if m.kind in drawing.SHAPES]
        number = "".join(m.kind for m in scene.marks if m.kind in drawing.DIGITS)
        expected = scenes.composed_answer(len(shapes), shapes[0].colour, shapes[0].kind, number)
        assert answers(scene, "composed") == {expected}


def test_composed_answers_tell_pictures_apart():
    said = Counter(next(iter(answers(scene, "composed"))) for scene in drawn("composed", 200))
    assert len(said) > 190


@pytest.mark.parametrize(
    ("count", "shape", "number", "answer"),
    [
        (1, "circle", "", "1 red circle"),
        (3, "circle", "47", "3 red circles 47"),
        (2, "cross", "10", "2 red crosses 10"),
    ],
)
def test_composed_wording(count, shape, number, answer):
    assert scenes.composed_answer(count, "red", shape, number) == answer


def test_the_colour_answered_is_the_colour_on_the_canvas():
    for scene in drawn("one"):
        mark = scene.marks[0]
        x, y = (int(value) for value in mark.centre)
        seen = scene.pixels[y - 1 : y + 2, x - 1 : x + 2].reshape(-1, 3).mean(0)
        nearest = min(drawing.PALETTE, key=lambda name: np.abs(seen - drawing.PALETTE[name]).sum())
        assert answers(scene, "colour") == {nearest}


def test_nothing_is_answered_on_empty_pictures_alone():
    for kind in courses.SCENE_KINDS:
        for scene in drawn(kind, 10):
            said = {ask.answer == questions.NOTHING for ask in scene.asks}
            assert said == {kind == "nothing"}


def test_lists_go_from_left_to_right():
    listed = [(scene, answers(scene, "list")) for scene in drawn("several") if answers(scene, "list")]
    assert listed
    for scene, said in listed:
        ordered = sorted(scene.marks, key=lambda m: m.centre[0])
        assert said == {", ".join(f"{m.colour} {m.kind}" for m in ordered)}


def test_positions_near_a_border_between_two_names_are_not_asked():
    at = {
        (0.1, 0.1): "top left",
        (0.9, 0.2): "top right",
        (0.5, 0.5): "center",
        (0.5, 0.1): "",
        (0.1, 0.9): "bottom left",
    }
    for (x, y), name in at.items():
        mark = drawing.Mark((x * 100, y * 100, x * 100, y * 100), "red", "circle")
        assert scenes.position_name(mark, 100, 100) == name


def test_pairs_are_compared_truly():
    for index in range(60):
        first, second, asks = scenes.pair(Random(index), 112, 112)
        for ask in asks:
            field = "colour" if ask.question in questions.WORDINGS["same_colour"] else "kind"
            same = [getattr(m, field) for m in first.marks] == [getattr(m, field) for m in second.marks]
            assert ask.answer == questions.yes_no(same)


def test_yes_and_no_are_about_as_common():
    said = Counter(next(iter(answers(scene, "exists"))) for scene in drawn("several", 300))
    assert min(said.values()) > 90


def test_text_turns_are_true():
    for index in range(300):
        ask = questions.text_ask(Random(index))
        if "plus" in ask.question or "=" in ask.question:
            numbers = [int(word) for word in ask.question.replace("?", "").split() if word.isdigit()]
            assert int(ask.answer) == sum(numbers)
        if "more than" in ask.question:
            a, b = (int(word) for word in ask.question.rstrip("?").split() if word.isdigit())
            assert ask.answer == questions.yes_no(a > b)


def test_patch_labels_mark_what_covers_a_patch():
    mark = drawing.Mark((14, 14, 42, 28), "red", "7", 2)
    labels = drawing.patch_labels([mark], 56, 56)
    assert labels.shape == (4, 4, 4)
    colour, kind = 1 + drawing.COLOURS.index("red"), 1 + drawing.KINDS.index("7")
    assert labels[1, 1:3, :2].tolist() == [[colour, kind], [colour, kind]]
    assert labels[..., 2].sum() == 1
    assert labels[1, 1, 3] == 2
    assert not labels[2:].any()


def test_every_trained_size_is_a_whole_number_of_image_tokens():
    assert all(height % 28 == 0 and width % 28 == 0 for height, width in heldout.EMPTY_SIZES)
    assert sum(courses.SIZES.values()) == pytest.approx(1)


def test_heldout_items_depend_on_seed_kind_and_index_alone():
    every = list(heldout.items(2, 5))
    assert [item.kind for item in every] == [kind for kind in heldout.SCENES_OF for _ in range(2)]
    again = heldout.item("composed", 1, 5)
    same = next(item for item in every[::-1] if item.kind == "composed")
    assert (again.question, again.answer) == (same.question, same.answer)
    assert again.data_urls() == same.data_urls()
    assert heldout.item("composed", 1, 6).data_urls() != same.data_urls()


def test_heldout_counts_are_asked_evenly():
    said = Counter(heldout.item("count", index, 5).answer for index in range(100))
    assert sorted(said) == ["1", "2", "3", "4", "5"]
    assert min(said.values()) > 8


def test_a_resized_item_asks_the_same_of_another_size():
    one = heldout.item("colour", 3, 5)
    other = heldout.resized(one, 1.3)
    assert (other.question, other.answer) == (one.question, one.answer)
    assert other.pictures[0].shape[:2] == tuple(round(side * 1.3) for side in one.pictures[0].shape[:2])


def test_a_barred_picture_has_its_size_and_black_bars_on_one_axis():
    course = courses.Course({"one": 1.0})
    for index in range(20):
        scene = scenes.barred_scene(Random(index), 112, 84, course)
        assert scene.pixels.shape == (112, 84, 3)
        edges = (scene.pixels[0], scene.pixels[-1], scene.pixels[:, 0], scene.pixels[:, -1])
        assert any(not edge.any() for edge in edges)
        assert {ask.kind for ask in scene.asks} >= {"colour", "shape", "count"}
