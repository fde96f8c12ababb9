"""Put what a run of the placement bench says into the README, and its plot: `proof_readme.py [FOLDER]`, by default bench-placement."""

import sys
from pathlib import Path

import msgspec

from forebay.testing.proof.contestants import FRESH
from forebay.testing.proof.plots import overview
from forebay.testing.proof.report import Proof
from pages.proof import with_placement

ROOT = Path(__file__).resolve().parent.parent


def publish(run: Path, root: Path) -> None:
    """Take over `placement.json` of `run` into the README and docs/images under `root`."""
    proof = msgspec.json.decode((run / "placement.json").read_bytes(), type=Proof)
    readme = root / "README.md"
    readme.write_text(with_placement(readme.read_text(encoding="utf-8"), proof), encoding="utf-8")
    changes = [(one.case, row.changes) for one in proof.cases for row in one.rows if row.contestant == FRESH]
    pictures = root / "docs" / "images"
    pictures.mkdir(parents=True, exist_ok=True)
    (pictures / "bench-placement.png").write_bytes(overview(proof.subject, FRESH, changes))


if __name__ == "__main__":
    publish(Path(sys.argv[1] if len(sys.argv) > 1 else "bench-placement"), ROOT)
