"""Endpoints that are found out while the gateway runs, one file for each kind of source.

What was found last stays in force while a source is silent, empty or broken: a fleet is not lost with its directory.
"""
