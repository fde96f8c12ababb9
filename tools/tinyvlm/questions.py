"""Wordings of the questions, and plain-text turns with true answers."""

from dataclasses import dataclass
from random import Random

from tinyvlm.drawing import COLOURS, SHAPES

NOTHING = "nothing"
NO_PICTURE = "no picture"
NUMBER_WORDS = ("0", "1", "2", "3", "4", "5")
WORDS = (
    "AT", "BUS", "CAR", "CAT", "CUP", "DOG", "EXIT", "FISH", "GO", "HELP", "HOT", "JAM",
    "KEY", "LOVE", "MAP", "NO", "OPEN", "PARK", "QUIZ", "RUN", "SHIP", "STOP", "TAXI", "UP",
    "VAN", "WIFI", "YES", "ZOO", "BIKE", "FIVE", "GOLD", "MENU",
)  # fmt: skip

WORDINGS = {
    "colour": ("What color is the {shape}?", "What colour is the {shape}?", "Which color is the {shape}?"),
    "colour_one": ("What color is it?", "What colour is the shape?", "What color is the shape?"),
    "colour_many": ("What color are the {shapes}?", "What colour are the shapes?", "What color are they?"),
    "colour_text": ("What color is the text?", "What colour is the text?"),
    "shape": ("What shape is {colour}?", "Which shape is {colour}?", "What is the {colour} shape?"),
    "shape_one": ("What shape is it?", "What shape is this?", "Which shape is shown?"),
    "count": ("How many shapes are there?", "Count the shapes.", "How many objects are there?"),
    "count_some": ("How many {shapes} are there?", "How many {colour} shapes are there?"),
    "digit": ("What digit is shown?", "Which digit is this?", "Read the digit."),
    "number": ("What number is shown?", "Which number is this?", "Read the number."),
    "word": ("What word is written?", "What does the text say?", "Read the word."),
    "describe": (
        "Describe the picture.",
        "What is in the picture?",
        "What do you see?",
        "Describe the image.",
    ),
    "list": ("List the shapes from left to right.", "List the shapes."),
    "position": ("Where is the {shape}?", "Where is the {colour} {shape}?"),
    "exists": ("Is there a {shape}?", "Is there a {colour} {shape}?", "Is anything {colour}?"),
    "same_colour": ("Are both the same color?", "Do both pictures show the same colour?"),
    "same_shape": ("Are both the same shape?", "Do both pictures show the same shape?"),
    "same_number": ("Are both the same number?", "Do both pictures show the same number?"),
}
SYSTEM_PROMPTS = (
    "You are a helpful assistant.",
    "You are a helpful assistant. Answer in a few words.",
    "Answer shortly.",
    "You look at pictures and tell the truth.",
    "You are the picture desk of a warehouse. Read what is shown and reply with the value only.",
)


@dataclass(frozen=True)
class Ask:
    """One question with its true answer; `kind` groups answers in the accuracy table."""

    kind: str
    question: str
    answer: str


def plural(shape: str) -> str:
    """More than one of a shape."""
    return shape + ("es" if shape.endswith("s") else "s")


def fill(template: str, shape: str = "", colour: str = "") -> str:
    """A question with the names of a shape and a colour put in."""
    return template.format(shape=shape, shapes=plural(shape), colour=colour)


def wording(rng: Random, form: str, **names: str) -> str:
    """A question of one form, with the names filled in."""
    return fill(rng.choice(WORDINGS[form]), **names)


def system_prompt(rng: Random) -> str:
    """A system prompt: mostly one of a few, sometimes a jumble of words, as nothing in it changes an answer."""
    if rng.random() < 0.7:
        return rng.choice(SYSTEM_PROMPTS)
    words = " ".join(
        " ".join(rng.choice(SYSTEM_PROMPTS + WORDINGS["count"]) for _ in range(3)).split()
    ).split()
    rng.shuffle(words)
    return " ".join([*words[: rng.randint(2, 18)], str(rng.randint(0, 999))])


def asked(rng: Random, kind: str, answer: str, form: str = "", **names: str) -> Ask:
    """A question of `form` (the kind itself where not given) and its answer."""
    return Ask(kind, wording(rng, form or kind, **names), answer)


def yes_no(truth: bool) -> str:
    """The two answers of a closed question."""
    return "yes" if truth else "no"


def any_picture_question(rng: Random) -> str:
    """Some question about one picture, names drawn at random."""
    form = rng.choice([name for name in WORDINGS if not name.startswith("same")])
    return wording(rng, form, shape=rng.choice(SHAPES), colour=rng.choice(COLOURS))


def text_ask(rng: Random) -> Ask:
    """A turn without a picture: a sum, a copy, a comparison, a yes or no, or a question that needs a picture."""
    form = rng.choice(("sum", "copy", "more", "is", "missing"))
    a, b = rng.randint(0, 9), rng.randint(0, 9)
    if form == "sum":
        return Ask("text", rng.choice(("What is {} plus {}?", "{} + {} = ?")).format(a, b), str(a + b))
    if form == "copy":
        phrase = rng.choice(COLOURS) + " " + rng.choice(SHAPES) if rng.random() < 0.5 else f"{a}{b}"
        return Ask("text", rng.choice(("Say {}.", "Repeat: {}")).format(phrase), phrase)
    if form == "more":
        return Ask("text", f"Is {a} more than {b}?", yes_no(a > b))
    if form == "is":
        name = rng.choice(COLOURS + SHAPES)
        asks_colour = rng.random() < 0.5
        group = rng.choice(("color", "colour")) if asks_colour else "shape"
        return Ask("text", f"Is {name} a {group}?", yes_no((name in COLOURS) == asks_colour))
    return Ask("text", any_picture_question(rng), NO_PICTURE)
