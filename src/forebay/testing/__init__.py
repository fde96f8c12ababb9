"""The public testing kit: for Forebay's own tests and for those of its users.

`play` drives a conductor by transcript, `VirtualClock` stands in for time, `build` makes small valid values,
`strategies` makes many of them with hypothesis, `ModelledEngine` is an engine whose timing is the simulator's, and `engines`
starts real ones. It may import every room but the command line.
"""

from forebay.testing.clock import VirtualClock
from forebay.testing.playbook import Playbook, play

__all__ = ["Playbook", "VirtualClock", "play"]
