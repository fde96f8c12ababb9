"""Probes of this host's accelerators: utilisation, memory, power and temperature, by whatever tool its maker has.

What lives here runs in a thread of its own, as drivers may take a second to answer. A probe is a small file; `values` reads
what tools write, `watch` asks twice a second and keeps the latest. A reading is shown to operators and ejects nobody.
"""
