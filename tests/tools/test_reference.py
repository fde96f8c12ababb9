"""The generator of reference pages."""

import msgspec
import pytest

import reference
from pages import settings
from pages.text import table


class Sample(msgspec.Struct, frozen=True):
    """A sample."""

    # Above.
    first_seconds: float = 1.0
    second_bytes: int = 2 * 1024 * 1024
    """Below."""
    third: str = ""
    fourth: str = ""


def test_reasons_stand_above_or_below_a_field():
    found = settings.reasons(Sample)
    assert found == {
        "first_seconds": "Above.",
        "second_bytes": "Below.",
        "third": "",
        "fourth": settings.ABOVE,
    }


def test_a_setting_shows_unit_and_default():
    text = settings.settings_table(Sample)
    assert "| `first_seconds` | number | seconds | `1.0` | Above. |" in text
    assert "| `second_bytes` | whole number | bytes | 2097152 (2 MiB) | Below. |" in text
    assert "| `third` | text |  | unset |" in text


def test_cells_may_hold_bars():
    assert table(["a"], [["x|y"]]).splitlines()[-2] == "| x\\|y |"


@pytest.mark.parametrize("page", reference.PAGES)
def test_pages_are_made_alike_each_time(page):
    assert reference.made(page) == reference.made(page)


def test_check_tells_a_stale_page(tmp_path, capsys):
    assert reference.write(tmp_path) == 0
    assert reference.check(tmp_path) == 0
    (tmp_path / "cli.md").write_text("old\n")
    assert reference.check(tmp_path) == 1
    assert "-old" in capsys.readouterr().out
