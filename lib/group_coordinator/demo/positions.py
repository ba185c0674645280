"""`group-coordinator positions` in a process of its own: lag needs samples of the topics' ends."""

from __future__ import annotations

from group_coordinator.demo.cast import PARTITION_COUNTS
from group_coordinator.demo.commands import program
from group_coordinator.demo.folder import DemoFolder
from group_coordinator.demo.plan import Plan
from group_coordinator.local.child_process import ChildProcess

_EVERY_S = 5


def start_positions(folder: DemoFolder, plan: Plan) -> ChildProcess:
    """Start the process; the tables must exist."""
    topics = [word for name in PARTITION_COUNTS for word in ("--topic", plan.topic(name))]
    command = program(
        *("positions", "--every", str(_EVERY_S), "--config", str(folder.settings), *topics)
    )
    return ChildProcess("The sampling of topics", command, folder.output("positions"))
