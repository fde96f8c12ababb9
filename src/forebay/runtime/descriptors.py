"""How many files a process may have open: every connection is one."""

import contextlib
import resource

MOST = 1 << 20
"""What Linux allows one process unless `fs.nr_open` says otherwise, for hosts that set no limit of their own."""


def allow_many_files() -> int:
    """Raise the soft limit on open files to the hard one, the administrator's. Returns the limit in force.

    Programs are started with a soft limit of 1,024 for the sake of select(), which nothing here uses. A thousand idle
    clients would leave no descriptor to reach an engine with. Processes that are started later inherit what is set here.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST if hard == resource.RLIM_INFINITY else min(hard, MOST)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
