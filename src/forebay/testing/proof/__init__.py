"""`forebay bench placement`: placement profiles against each other in virtual time, case by case, with intervals and gates.

Every figure here comes from a model, and says so.
"""
