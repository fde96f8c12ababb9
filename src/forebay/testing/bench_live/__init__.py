"""The live bench: one scenario through a real gateway and modelled engines, and the same in the simulator.

Both run in stretched time: everything that is modelled takes `slowdown` times as long, so that Python's own time, and this
machine's, weigh that much less. What it prints is in the scenario's time again. The times are modelled on both sides; what is
measured is how far a live gateway departs from a simulated one.
"""
