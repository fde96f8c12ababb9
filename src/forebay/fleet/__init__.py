"""The fleet's eyes: what engines say of themselves, turned into views.

What lives here asks engines over HTTP and may use asyncio and aiohttp, off the hot path. `metrics` reads the Prometheus
text, `dialects/` knows what each engine calls its metrics, `adapters/` how to ask each engine for its health, models and
limits, `detect` which engine it is, and `eyes` when to ask. `discovery/` finds endpoints in names and files, and
`hardware/` reads the devices of this very host. Unknown is None, and never zero.
"""
