"""Removal of old files of a Delta log: in a table's maintenance, and not with each commit of the deltalake package.

The package lets every commit remove old files. If two do so at the same time, one fails over a file that the other has
removed, although it is committed; a batch or a sample would count as failed. So every commit has LEFT_TO_UPKEEP, and
the maintenance of the table removes the files, once a minute.

OPTIMIZE and VACUUM remove them all the same: the package (1.6.6) accepts the properties there, and ignores them. They
are part of maintenance, which has just removed the old files, and which is retried if another process was faster
(maintenance.py). Commits of Spark remove old files with each of their checkpoints.
"""

from __future__ import annotations

from contextlib import suppress

from deltalake import DeltaTable, PostCommitHookProperties

LEFT_TO_UPKEEP = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
"""Properties of every commit by the deltalake package."""


def remove_old_log(location: str) -> None:
    """Remove files that are older than the table's delta.logRetentionDuration, and than its last checkpoint.

    Args:
        location: the table's folder, or its URL.
    """
    # Another process was faster; the rest is removed the next time.
    with suppress(FileNotFoundError):
        DeltaTable(location).cleanup_metadata()
