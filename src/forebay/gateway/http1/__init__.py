"""HTTP/1.1, both sides, and nothing of models or prompts.

`inbound` speaks with clients and enforces the floor (framing, sizes, times, counts); `upstream` speaks with engines over
kept-alive connections. Both work by callbacks: no task, no future and no timer is made for a request on the usual path.
`message` and `limits` are what the rest of the gateway needs to know; `headers` and `coding` are pure functions.
"""
