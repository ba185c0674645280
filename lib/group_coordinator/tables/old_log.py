"""Old files of a Delta log on this machine's disk go in a table's upkeep, and not with each commit.

The deltalake package lets every commit remove what is too old. Of two that do so at the same time one fails over a file that
the other has removed, though it is committed; a batch, or the upkeep of a table, would be taken for failed.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

from deltalake import DeltaTable, PostCommitHookProperties

LEFT_TO_UPKEEP = PostCommitHookProperties(create_checkpoint=True, cleanup_expired_logs=False)
"""For commits."""


def remove_old_log(folder: Path) -> None:
    """Remove what is older than the table's delta.logRetentionDuration, and than its last checkpoint."""
    with suppress(FileNotFoundError):  # another process was faster; what it left goes the next time
        DeltaTable(folder).cleanup_metadata()
