"""What holds for every test."""

import os

from hypothesis import settings

# Machines differ tenfold in speed: an example's time says nothing of its rightness. CI draws the same examples each time.
settings.register_profile("here", deadline=None)
settings.register_profile("ci", deadline=None, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "here")
