"""Old files of a Delta log go in a table's upkeep, and not with each commit of the deltalake package.

The package lets every commit remove what is too old. Of two that do so at the same time one fails over a file that the other
has removed, though it is committed; a batch or a sample would be taken for failed. So every commit says LEFT_TO_UPKEEP, and
who looks after the table removes, once a minute.

OPTIMIZE and VACUUM remove all the same: the package (1.6.6) takes the properties there, and does not look at them. They are upkeep
themselves, which has just removed what was old, and comes again where another process was faster (maintenance.py). Commits of
Spark remove what is old with each of their checkpoints.
"""

from __future__ import annotations

from contextlib import suppress

from deltalake import DeltaTable, PostCommitHookProperties

LEFT_TO_UPKEEP = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
"""For commits."""


def remove_old_log(location: str) -> None:
    """Remove what is older than the table's delta.logRetentionDuration, and than its last checkpoint.

    Args:
        location: the table's folder, or its URL.
    """
    with suppress(FileNotFoundError):  # another process was faster; what it left goes the next time
        DeltaTable(location).cleanup_metadata()
