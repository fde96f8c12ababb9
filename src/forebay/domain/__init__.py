"""The words: what every other room speaks in.

Values only, no policy. This room imports nothing of Forebay, and nothing that reads a clock, a socket or a file.
Times are int microseconds of one monotonic clock; sizes are bytes, pixels or tokens, as each name says.
"""
