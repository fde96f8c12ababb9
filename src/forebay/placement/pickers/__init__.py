"""Choosing one of the weighted totals. Exact ties are broken at random, so that equal endpoints share the load."""
