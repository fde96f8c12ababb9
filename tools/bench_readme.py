"""Put the figures and the picture of a bench run into the README: `bench_readme.py [FOLDER]`, by default bench-router."""

import shutil
import sys
from pathlib import Path

import msgspec

from forebay.testing.bench.results import Report
from pages.bench import with_figures

ROOT = Path(__file__).resolve().parent.parent


def publish(run: Path, root: Path) -> None:
    """Take over `router.json` and `router.png` of `run` into the README and docs/images under `root`."""
    report = msgspec.json.decode((run / "router.json").read_bytes(), type=Report)
    readme = root / "README.md"
    readme.write_text(with_figures(readme.read_text(encoding="utf-8"), report), encoding="utf-8")
    pictures = root / "docs" / "images"
    pictures.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(run / "router.png", pictures / "bench-router.png")


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "bench-router"), ROOT)
