"""How much of its time an endpoint spends on prompts: the work that was sent there, over time."""

import math

# As long as a few prompts of a busy endpoint take, so that one does not tip the share, and a lull shows within seconds.
MEMORY_US = 5e6


def share_after(share: float, elapsed_us: float, work_us: float) -> float:
    """The share, >= 0, once `work_us` more was sent, `elapsed_us` after it was `share`.

    Work sent evenly at x seconds a second settles at x.
    """
    return share * math.exp(-elapsed_us / MEMORY_US) + work_us / MEMORY_US
