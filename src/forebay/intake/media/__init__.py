"""Media as told by its own header: what it is, how big, how long. Never a full decode.

`formats/` has one small file per container, and `probe` the table of them, chosen from by magic bytes. `boxes`, `ebml`, `ifd` and
`frames` walk what several of them are made of. `dataurl` turns what clients write into bytes, `limits` refuses bombs
before anything downstream sees them. Every probe takes a bounded number of steps, whatever the header claims. This
folder touches bytes only: no file, no network.
"""
