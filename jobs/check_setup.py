"""Whether a run would find all that it needs, for spark-submit. README.md has the command line; `group-coordinator-job` of the wheel is the same."""

from __future__ import annotations

from group_coordinator.cli.submitted import check

if __name__ == "__main__":
    check()
