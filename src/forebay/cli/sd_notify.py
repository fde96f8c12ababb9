"""Tells a service manager how far the process is: systemd's `Type=notify`. Does nothing where none asked for it.

The protocol is one datagram of NAME=value lines to the Unix socket that the manager names; see sd_notify(3).
"""

import os
import socket

READY = "READY=1"
STOPPING = "STOPPING=1"


def sd_notify(state: str) -> None:
    """Send `state`. A manager that cannot be told is no reason to fail."""
    address = os.environ.get("NOTIFY_SOCKET", "")
    if not address.startswith(("/", "@")):
        return
    # A leading @ stands for the NUL byte of Linux's abstract names.
    name = "\0" + address[1:] if address.startswith("@") else address
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM | socket.SOCK_CLOEXEC) as manager:
        manager.setblocking(False)
        try:
            manager.sendto(state.encode(), name)
        except OSError:
            return
