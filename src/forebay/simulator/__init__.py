"""The fleet in virtual time: modelled engines under the very conductor that rules the live gateway.

Everything here is a model. It may import the rooms below the wire, and the standard library without clocks, sockets and threads:
time is what the heap says.
"""
