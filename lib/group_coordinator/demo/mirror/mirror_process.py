"""`group-coordinator mirror` in a process of its own, started as anybody would start it."""

from __future__ import annotations

from collections.abc import Callable

from group_coordinator.demo.commands import program, typed_name
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.mirror.plan import CLUSTER
from group_coordinator.local.child_process import ChildProcess


class MirrorProcess:
    """Not started before `start`.

    Args:
        folder: its tables, its checkpoint and its output are there.
        bootstrap_servers: the cluster.
        tell: takes a line of the story.
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
        """What the user would type."""
        settings = self._folder.shown(self._folder.settings)
        return " ".join([typed_name(), *self._arguments, "--config", settings])

    def start(self) -> None:
        """Start it."""
        self._tell(f"$ {self.typed}")
        command = program(*self._arguments, "--config", str(self._folder.settings))
        output = self._folder.output("mirror")
        self._process = ChildProcess("The mirror", command, output, self._folder.scratch)

    def check_alive(self) -> None:
        """Raise CommandFailedError if it was started and ended."""
        if self._process is not None:
            self._process.check_alive()

    def end(self, grace_s: float) -> None:
        """Return when it has ended; a batch that runs is finished first, if the grace is long enough."""
        if self._process is not None:
            self._process.end(grace_s)
