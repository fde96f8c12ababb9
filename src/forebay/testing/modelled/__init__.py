"""`ModelledEngine`: an HTTP engine that speaks vLLM's API and metrics, and takes the time that the simulator's engine says.

It computes nothing: its answers are fixed words and its times are modelled, and are to be called so wherever they show.
"""

from forebay.testing.modelled.server import ModelledEngine
from forebay.testing.modelled.truth import Joined, Truth

__all__ = ["Joined", "ModelledEngine", "Truth"]
