"""The HTTP and SSE reverse proxy: a front for the driver.

`http1` moves bytes on both sides, `streams` are pure machines that read replies, and the files here tie them to the
driver: `ingress` takes requests in, an `exchange` is one of them on its way, `front` carries out commands, `admin`
answers operators, `listeners` opens and drains the ports.
"""
