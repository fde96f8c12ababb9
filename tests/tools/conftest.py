"""The tools are scripts beside the package, so that their tests put them on the path."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tools"))
