"""Watched files: a change is seen once, and a touch is none."""

import asyncio
import os

from forebay.fleet.discovery.files import Contents, watch


def test_only_other_content_is_a_change(tmp_path):
    path, other = tmp_path / "a", tmp_path / "b"
    paths = [str(path), str(other)]
    path.write_text("one")
    contents = Contents()
    assert contents.changed(paths)
    assert not contents.changed(paths)
    os.utime(path, ns=(1, 1))
    assert not contents.changed(paths)
    path.write_text("two")
    os.utime(path, ns=(2, 2))  # whatever the clock of this disk can tell apart
    assert contents.changed(paths)
    other.write_text("new")
    assert contents.changed(paths)
    assert not contents.changed(paths)
    other.unlink()
    assert contents.changed(paths)


def test_a_link_that_points_elsewhere_is_a_change(tmp_path):
    for name in ("v1", "v2"):
        (tmp_path / name).write_text(name)
    link = tmp_path / "current"
    link.symlink_to("v1")
    contents = Contents()
    contents.changed([str(link)])
    (tmp_path / "next").symlink_to("v2")
    (tmp_path / "next").rename(link)
    assert contents.changed([str(link)])


async def test_changes_are_told_though_one_could_not_be_taken_over(tmp_path):
    path = tmp_path / "f"
    path.write_text("0")
    told, looks = [], []

    def paths():
        looks.append(path)
        return [str(path)]

    async def changed():
        told.append(path.read_text())
        raise ValueError("broken")

    watching = asyncio.create_task(watch(paths, 0.001, changed))
    try:
        async with asyncio.timeout(30):
            while len(looks) < 3:  # the first content is known
                await asyncio.sleep(0.002)
            for number in range(1, 4):
                path.write_text("x" * number)
                while len(told) < number:
                    await asyncio.sleep(0.002)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)


async def test_a_file_is_left_alone_while_it_is_written(tmp_path):
    path = tmp_path / "f"
    path.write_text("")
    told, looks = [], 0

    def paths():
        nonlocal looks
        looks += 1
        if 3 <= looks < 30:  # written between any two looks
            path.write_text("x" * looks)
        return [str(path)]

    async def changed():
        told.append(path.read_text())

    watching = asyncio.create_task(watch(paths, 0.001, changed))
    try:
        async with asyncio.timeout(30):
            while not told:
                await asyncio.sleep(0.002)
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
    assert told == ["x" * 29]
