"""Settings of the C library's allocator, for a process whose bodies come and go by the megabyte."""

import ctypes

# From glibc's malloc.h.
_TRIM_THRESHOLD = -1
_MMAP_THRESHOLD = -3
_LARGEST_FROM_HEAP_BYTES = (
    32 * 1024 * 1024
)  # the most that glibc allows, and the most that a body may have by default
_KEPT_BYTES = 64 * 1024 * 1024


def keep_freed_memory() -> bool:
    """Keep up to 64 MiB of freed memory for the next body. False where the C library is not glibc.

    By default glibc gives a body's pages back at once, and the next body has the kernel clear and map them again: 70
    page faults for 300 KB. Measured with 300 KB and 3 MB images: 15 and 20 % less CPU for the whole request.
    """
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    kept = mallopt(_TRIM_THRESHOLD, _KEPT_BYTES)
    from_heap = mallopt(_MMAP_THRESHOLD, _LARGEST_FROM_HEAP_BYTES)
    return bool(kept and from_heap)
