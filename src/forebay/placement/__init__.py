"""Where a request goes: profiles of filters, weighted scorers and one picker.

Every policy is arithmetic on `domain.facts.Facts`, written once and run per endpoint or over columns. Pure: the moment
comes in the Ask and chance in an `rng`. This room knows neither how beliefs are learned nor what breakers do.
"""
