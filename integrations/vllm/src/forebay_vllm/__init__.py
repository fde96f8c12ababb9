"""vLLM plug-in: encoder time and media counts on vLLM's own `/metrics`.

vLLM calls `register` once in each of its processes. Those that run the encoder write a page of counters each, and the one that
answers HTTP adds the pages up. They meet in a folder that the first process makes and its children inherit by name.
"""

import atexit
import logging
import os
import shutil
import tempfile
from pathlib import Path

from forebay_vllm.collector import EncoderCollector
from forebay_vllm.page import Page
from forebay_vllm.watch import watch_encoders

__all__ = ["FOLDER_VARIABLE", "register"]

FOLDER_VARIABLE = "FOREBAY_VLLM_PAGES"
log = logging.getLogger("vllm.forebay")


def register() -> None:
    """Export and record. Whatever fails here is logged: serving comes first."""
    try:
        folder = _folder()
        _export(folder)
        watch_encoders(lambda: Page.open(folder / f"{os.getpid()}.page"))
    except Exception:
        log.exception("forebay-vllm could not be set up; vLLM goes on without it")


def _folder() -> Path:
    named = os.environ.get(FOLDER_VARIABLE)
    if named:
        return Path(named)
    made = Path(tempfile.mkdtemp(prefix="forebay-vllm-"))
    os.environ[FOLDER_VARIABLE] = str(made)
    atexit.register(_remove, made, os.getpid())
    return made


def _remove(folder: Path, owner: int) -> None:
    """At the end of the process that made it: a child that was forked runs this too, and must leave it alone."""
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)


_exported = False


def _export(folder: Path) -> None:
    from prometheus_client import REGISTRY

    # vLLM may load its plug-ins more than once in a process, and a name may be registered once.
    global _exported  # noqa: PLW0603 - of this process, as the registry is
    if not _exported:
        REGISTRY.register(EncoderCollector(folder))
        _exported = True
