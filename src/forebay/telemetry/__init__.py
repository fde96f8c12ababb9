"""What Forebay tells of itself: counters, an access log, decisions that can be read back.

Observers hear of each decision, outcome and passage. Nothing here decides anything, and no fault here may reach the
path. What lives on the path is plain ints and lists; Prometheus families, JSON and tables are made when someone asks.
"""
