"""The router benchmark: what one request costs in each router, measured side by side.

Here live a fake engine that speaks vLLM's wire format, a load generator that checks every byte, the ways to start each
contestant, and the report. Nothing here decides anything for the balancer, and nothing in the balancer imports it.
"""
