"""Owners and objectives of groups from a file, for spark-submit. README.md has the command line; `group-coordinator-job` of the wheel is the same."""

from __future__ import annotations

from group_coordinator.cli.submitted import labels

if __name__ == "__main__":
    labels()
