"""Media as told by its own header: what it is, how big, how long. Never a full decode.

One small file per container. `probe` decides by magic bytes, `dataurl` turns what clients write into bytes,
`limits` refuses bombs before anything downstream sees them. Every probe reads a bounded number of bytes and follows
a bounded number of boxes, whatever sizes the header claims. This folder touches bytes only: no file, no network.
"""
