"""What clients ask for: one file for each kind of workload, all of them endless streams of asks drawn from a seeded generator.

The samples in data/ are small parts of public traces, and other people's work: NOTICE says whose, and what was changed.
"""
