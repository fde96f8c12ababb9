"""The HTTP and SSE reverse proxy: a front for the driver.

`http1` moves bytes on both sides, `streams` are pure machines that read replies, and the files here tie them to the
driver: `ingress` takes requests in, an `exchange` is one of them on its way, `front` carries out commands, `admin`
answers operators, `listening` opens and drains the ports. A `station` is all of it in one process; with several workers a
`supervisor` holds what there is once on a host, and a `crew` of processes serves.
"""
