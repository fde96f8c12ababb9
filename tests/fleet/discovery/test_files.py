"""Watched files: a change is seen once, and a touch is none."""

import asyncio
import itertools
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
    told = []

    async def changed():
        told.append(path.read_text())
        raise ValueError("broken")

    watching = asyncio.create_task(watch(lambda: [str(path)], 0.001, changed))
    try:
        async with asyncio.timeout(30):
            for number in itertools.count():
                path.write_text(str(number))
                await asyncio.sleep(0.002)
                if len(told) >= 3:
                    break
    finally:
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
