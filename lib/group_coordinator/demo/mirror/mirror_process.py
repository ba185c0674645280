"""`group-coordinator mirror` in a process of its own, started as a user would start it."""

from __future__ import annotations

from collections.abc import Callable

from group_coordinator.demo.commands import program, typed_name
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.mirror.plan import CLUSTER
from group_coordinator.local.child_process import ChildProcess


class MirrorProcess:
    """The mirror's process, which `start` starts.

    Args:
        folder: for its tables, its checkpoint and its output.
        bootstrap_servers: the cluster.
        tell: receives a line of the story.
    """

    def __init__(
        self, folder: DemoFolder, bootstrap_servers: str, tell: Callable[[str], object]
    ) -> None:
        self._folder = folder
        self._arguments = (
            *("mirror", "--bootstrap-server", bootstrap_servers),
            *("--cluster", CLUSTER, "--with-compaction"),
        )
        self._tell = tell
        self._process: ChildProcess | None = None

    @property
    def typed(self) -> str:
        """The command as the user would type it."""
        settings = self._folder.shown(self._folder.settings)
        return " ".join([typed_name(), *self._arguments, "--config", settings])

    def start(self) -> None:
        self._tell(f"$ {self.typed}")
        command = program(*self._arguments, "--config", str(self._folder.settings))
        output = self._folder.output("mirror")
        self._process = ChildProcess("The mirror", command, output, self._folder.scratch)

    def check_alive(self) -> None:
        """Raise CommandFailedError if it was started and ended."""
        if self._process is not None:
            self._process.check_alive()

    def end(self, grace_s: float) -> None:
        """Return when it has ended; a running batch is finished first, if the grace time is long enough."""
        if self._process is not None:
            self._process.end(grace_s)
