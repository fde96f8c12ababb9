"""Pure machines for what engines send back: events cut, counted, held back, renamed, and ended properly.

Nothing here reads a socket or a clock. Bytes and moments come in, bytes to send and facts come out.
"""
