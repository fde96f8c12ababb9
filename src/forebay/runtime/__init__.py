"""The driver: stamps time, feeds events to the conductor, and has its commands carried out by a front.

`ledger` and `channel` join the workers of one gateway, `recorder` writes what the conductor was told, and `replay` tells it again.
It may touch the event loop, the clock and shared memory, and nothing of HTTP.
"""
