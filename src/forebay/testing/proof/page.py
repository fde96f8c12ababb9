"""The report as one self-contained HTML page: tables, gates, pictures, and the command that makes each claim again."""

import base64
import html
from collections.abc import Mapping

from forebay.testing.proof.figures import FIGURES
from forebay.testing.proof.report import CaseReport, Proof, Row, Verdict, shown

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 70rem; padding: 0 1rem; color: #1b2733; }
table { border-collapse: collapse; margin: 1rem 0; } th, td { padding: .25rem .7rem; text-align: right; border-bottom: 1px solid #e3e7eb; }
th:first-child, td:first-child { text-align: left; } tr.ours { background: #e8f4f8; font-weight: 600; }
.good { color: #1d7a46; } .bad { color: #b3372f; } .met::before { content: "met "; color: #1d7a46; }
.missed::before { content: "MISSED "; color: #b3372f; font-weight: 700; } img { max-width: 100%; } code { background: #f2f4f6; padding: .1rem .3rem; }
small { color: #5d6b78; }
"""


def page(proof: Proof, pictures: Mapping[str, list[bytes]], command: str) -> str:
    """`pictures` are PNGs by case; `command` makes this report again."""
    missed = len(proof.missed)
    total = sum(len(one.verdicts) for one in proof.cases)
    seeds = f"{len(proof.seeds)} paired seeds ({', '.join(map(str, proof.seeds))})"
    parts = [
        f"<!doctype html><meta charset='utf-8'><title>Placement: {_text(proof.subject)}</title><style>{_STYLE}</style>",
        f"<h1>Placement: <code>{_text(proof.subject)}</code> against every baseline</h1>",
        "<p><b>Modelled in virtual time</b>, by the conductor that rules the live gateway.",
        f"Means over {seeds}; less is better. In brackets: ours over theirs, minus 1.",
        f"{total - missed} of {total} gates met. Made by <code>{_text(command)}</code>.</p>",
    ]
    parts += [_case(proof.subject, one, pictures.get(one.case, []), command) for one in proof.cases]
    return "\n".join(parts) + "\n"


def _case(subject: str, report: CaseReport, pictures: list[bytes], command: str) -> str:
    standing = "; ".join(f"{device}: {words}" for device, words in report.standing.items())
    recovery = ("recovery",) if "recovery" in report.rows[0].figures else ()
    head = "".join(f"<th>{name}</th>" for name in ("", *FIGURES, "throughput", *recovery))
    rows = "".join(_row(subject, row) for row in report.rows)
    gates = "".join(map(_gate, report.verdicts))
    behind = (
        f"<li class='missed'>the lowest E2E mean: {_text(', '.join(report.behind))} is lower</li>"
        if report.behind
        else "<li class='met'>the lowest E2E mean, within intervals</li>"
    )
    images = "".join(
        f"<img alt='' src='data:image/png;base64,{base64.b64encode(one).decode()}'>" for one in pictures
    )
    again = f"{command.partition(' --case')[0]} --case {report.case!r}"
    return (
        f"<h2>Case {_text(report.case)}: {_text(report.title)}</h2><p><small>{_text(standing)}. Again: "
        f"<code>{_text(again)}</code></small></p><table><tr>{head}</tr>{rows}</table><ul>{gates}{behind}</ul>{images}"
    )


def _row(subject: str, row: Row) -> str:
    cells = "".join(f"<td>{_cell(row, what)}</td>" for what in FIGURES)
    ours = " class='ours'" if row.contestant == subject else ""
    throughput = f"<td>{row.figures['throughput']:.2f}/s</td>"
    recovery = f"<td>{row.figures['recovery']:.0f} s</td>" if "recovery" in row.figures else ""
    return f"<tr{ours}><td>{_text(row.contestant)}</td>{cells}{throughput}{recovery}</tr>"


def _cell(row: Row, what: str) -> str:
    value = row.figures[what]
    words = shown(what, value)
    if what not in row.changes:
        return words
    mean, low, high = row.changes[what]
    sure = "good" if high < 0 else "bad" if low > 0 else ""
    return f"{words} <span class='{sure}' title='{low:+.1%} .. {high:+.1%}'>({mean:+.0%})</span>"


def _gate(one: Verdict) -> str:
    state = "met" if one.met else "missed"
    return f"<li class='{state}'>{_text(one.words)}: {one.numbers()}</li>"


def _text(words: str) -> str:
    return html.escape(words)
