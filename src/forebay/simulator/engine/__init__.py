"""One modelled engine: how long its steps take, and what it puts into each."""
