"""The driver: stamps time, feeds events to the conductor, and has its commands carried out by a front.

It may touch the event loop and the clock, and nothing of HTTP.
"""
