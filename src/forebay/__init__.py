"""Forebay: a load balancer for multimodal LLM inference.

The rooms, read top to bottom as a request travels, are listed in docs/explanation/design.md.
"""

__version__ = "0.1.0"
