"""Limits on open files, in processes of their own."""

import subprocess
import sys

import pytest

PROGRAM = """
import resource
from forebay.runtime import descriptors
descriptors.MOST = {most}
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
print(descriptors.allow_many_files(), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""


@pytest.mark.parametrize(
    ("soft", "hard", "most", "limits"),
    [
        (100, 300, 1000, [300, 300, 300]),
        (300, 300, 1000, [300, 300, 300]),
        (100, 300, 200, [200, 200, 300]),
        (250, 300, 200, [250, 250, 300]),  # never less than there was
    ],
)
def test_as_many_as_the_administrator_allows(soft, hard, most, limits):
    program = PROGRAM.format(soft=soft, hard=hard, most=most)
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert [int(limit) for limit in done.stdout.split()] == limits
