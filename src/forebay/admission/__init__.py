"""May a request enter, when, and after what failures again.

Pure policies over domain values: breakers, retry budgets, the hold queue, and the words for a client whose request
could not be served. This room knows nothing of costs or scores, and reads no clock: `at` comes as an argument.
"""
