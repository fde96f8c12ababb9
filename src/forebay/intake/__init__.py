"""From wire bytes to an InferenceRequest: what is asked, what it needs, and what it will cost.

`understand` is the way in; one file per API reads its own shape. Pure: bytes in, values or a Refusal out. The body
itself is never changed here: `splice` says which bytes to put in place of which.
"""
