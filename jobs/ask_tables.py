"""A question to the tables, for spark-submit. README.md has the command line; `group-coordinator-job` of the wheel is the same."""

from __future__ import annotations

from group_coordinator.cli.submitted import sql

if __name__ == "__main__":
    sql()
