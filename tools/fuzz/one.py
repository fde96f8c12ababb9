"""Fuzz one target with atheris: `one.py TARGET SECONDS CORPUS FINDINGS`. Ends at the first finding.

A finding is an input that makes the target raise what it may not, or take more than `LIMIT_US` of CPU time. The
fuzzer's own instrumentation makes code several times slower, so that times are taken with a second copy of it, which is
not instrumented. They are CPU time of this thread, the best of three, so that a busy machine finds nothing.
"""

import hashlib
import json
import sys
import time
from pathlib import Path

import atheris
from targets import Target, targets

LIMIT_US = 5_000
REPEATS = 3
# Every so many inputs one is also tried repeated to a great length: the longest loops want the longest files.
STRETCH_EVERY = 16
LONGEST_BYTES = 64 * 1024


def loaded(name: str) -> Target:
    """The target in a copy of Forebay of its own."""
    for module in [each for each in sys.modules if each.partition(".")[0] == "forebay"]:
        del sys.modules[module]
    return targets()[name]


class Watch:
    """Tries inputs, and keeps what was worst. `stats` is a file for whoever started this."""

    def __init__(self, name: str, findings: Path, stats: Path) -> None:
        self.name, self.findings, self.stats = name, findings, stats
        self.plain = loaded(name)
        with atheris.instrument_imports(include=["forebay.intake"]):
            self.instrumented = loaded(name)
        self.inputs = self.worst_us = self.worst_bytes = 0

    def try_input(self, data: bytes) -> None:
        """One input, and now and then a long one made of it."""
        self.inputs += 1
        self.try_one(data)
        if self.inputs % STRETCH_EVERY == 0:
            self.try_one(self.plain.stretched(data))

    def try_one(self, data: bytes) -> None:
        """Raise when `data` is a finding, and keep it."""
        started = time.thread_time_ns()
        try:
            self.instrumented.replay(data)
        except Exception:
            self._keep("fault", data)
            raise
        if (time.thread_time_ns() - started) // 1_000 > max(100, self.worst_us):
            self._measure(data)

    def _measure(self, data: bytes) -> None:
        best_us = min(self._time_us(data) for _ in range(REPEATS))
        if best_us <= self.worst_us:
            return
        self.worst_us, self.worst_bytes = best_us, len(data)
        self.stats.write_text(json.dumps({"worst_us": best_us, "worst_bytes": len(data)}))
        if best_us > LIMIT_US:
            self._keep("slow", data)
            raise TimeoutError(f"{self.name}: {best_us} us of CPU time for {len(data)} bytes")

    def _time_us(self, data: bytes) -> int:
        started = time.thread_time_ns()
        self.plain.replay(data)
        return (time.thread_time_ns() - started) // 1_000

    def _keep(self, kind: str, data: bytes) -> None:
        digest = hashlib.sha256(data).hexdigest()[:12]
        (self.findings / f"{self.name}-{kind}-{digest}").write_bytes(data)


def main() -> None:
    name, seconds, corpus, findings = sys.argv[1], sys.argv[2], Path(sys.argv[3]), Path(sys.argv[4])
    watch = Watch(name, findings, findings / f"{name}.json")
    for number, seed in enumerate(watch.plain.seeds):
        (corpus / f"seed-{number}").write_bytes(seed)
    options = [
        f"-max_total_time={seconds}",
        f"-max_len={LONGEST_BYTES}",
        "-print_final_stats=1",
        "-timeout=60",
    ]
    atheris.Setup(
        [sys.argv[0], str(corpus), f"-artifact_prefix={findings}/libfuzzer-{name}-", *options],
        watch.try_input,
    )
    atheris.Fuzz()


if __name__ == "__main__":
    main()
