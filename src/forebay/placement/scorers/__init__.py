"""Numbers that tell endpoints apart for one request, one small file each."""
