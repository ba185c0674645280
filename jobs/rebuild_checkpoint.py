"""The coordinator's lost checkpoint made again, for spark-submit. README.md has the command line; `group-coordinator-job` of the wheel is the same."""

from __future__ import annotations

from group_coordinator.cli.submitted import rebuild

if __name__ == "__main__":
    rebuild()
