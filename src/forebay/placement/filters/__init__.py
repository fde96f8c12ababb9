"""Which endpoints may serve a request at all. What is not known never drops one."""
