"""Checks for spark-submit that a run finds all that it needs. README.md has the command line; `group-coordinator-job` of the wheel is the same."""

from __future__ import annotations

from group_coordinator.cli.submitted import check

if __name__ == "__main__":
    check()
