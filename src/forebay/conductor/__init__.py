"""The sans-I/O heart: `Conductor.handle(event) -> commands`.

It composes intake's requests, admission, placement and estimators, and never reads a clock, a socket or a dice: time
comes with each event and chance from a seed. The live gateway and every test drive the very same object.
"""
