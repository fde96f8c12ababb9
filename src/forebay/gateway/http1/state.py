"""What one client connection can be in the middle of."""

import enum


class State(enum.Enum):
    """What the next bytes of the client are."""

    HEAD = enum.auto()  # a new request, of which a part may be held already
    LENGTH = enum.auto()  # a body of known length
    CHUNKS = enum.auto()  # a body in chunks
    REPLY = enum.auto()  # a later request, kept until this reply ends
    LINGER = enum.auto()  # thrown away, until the client has read its refusal
    CLOSED = enum.auto()  # nothing: the connection closes as soon as what was written is sent
