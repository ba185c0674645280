"""Ends a process when ours is gone, however it went."""

from __future__ import annotations

import subprocess
from pathlib import Path

# The input is a pipe that only our process holds open: when we are gone, the read ends.
_SCRIPT = 'read -r _; kill -KILL "$1"; [ -z "$2" ] || rm -rf "$2"'


class Watchdog:
    """A shell in a session of its own, where no signal meant for us reaches it.

    Args:
        target: the process to end, as kill(2) has it: a negative one is a whole process group.
        temporary_folder: removed when we are gone before we could; None: everything stays.
    """

    def __init__(self, target: int, temporary_folder: Path | None = None) -> None:
        arguments = (str(target), str(temporary_folder or ""))
        self._process = subprocess.Popen(  # noqa: S603 - a script of our own
            ["/bin/sh", "-c", _SCRIPT, "watchdog", *arguments],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def dismiss(self) -> None:
        """Nothing is to be ended any more."""
        self._process.kill()
        self._process.communicate()
