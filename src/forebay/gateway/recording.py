"""The decision log of a worker, as the configuration wants it."""

import os
import time
from pathlib import Path

from forebay import __version__
from forebay.conductor.conductor import Conductor
from forebay.config.assemble import Assembly
from forebay.config.errors import ConfigError
from forebay.gateway.seat import Seat
from forebay.runtime.recorder import Recorder, new_file
from forebay.runtime.records import FORMAT, Head


def recorder_of(conductor: Conductor, assembly: Assembly, seat: Seat, at: int) -> Recorder | None:
    """What writes down all that `conductor`, made at `at` and not used yet, is told. None when no log is wanted.

    Raises ConfigError when the log cannot be written.
    """
    settings = assembly.file.decision_log
    if not settings.path:
        return None
    head = Head(FORMAT, __version__, seat.worker, seat.workers, assembly.file.seed, at, assembly.recipe)
    stamp = f"{time.strftime('%Y%m%dT%H%M%S', time.gmtime())}.{os.getpid()}"
    try:
        file = new_file(Path(settings.path), seat.worker, settings.keep, stamp)
        return Recorder(conductor, file, head, settings.max_bytes)
    except OSError as error:
        raise ConfigError("decision_log.path", str(error), "name a folder that can be written") from None
