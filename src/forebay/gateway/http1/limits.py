"""The numbers of the HTTP floor. They live in config/, which may not know this room."""

from forebay.config.inbound import KIB, MIB, InboundLimits

__all__ = ["KIB", "MIB", "InboundLimits"]
