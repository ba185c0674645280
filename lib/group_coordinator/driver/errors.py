"""The error by which the job does not start, or ends; the commands turn it into an exit status."""

from __future__ import annotations


class StartUpError(Exception):
    """The job cannot work, and the user can fix the cause. The message is a plain sentence with the cause."""


def check_is_there(tables_root: str, table: str, *, is_there: bool) -> None:
    """Raise StartUpError for a missing table, with the command that creates it."""
    if not is_there:
        raise StartUpError(
            f"tables.root = {tables_root} has no table {table}: run `group-coordinator init`, or without the topics "
            "`group-coordinator-job create-tables`"
        )
