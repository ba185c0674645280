"""Files with secrets that other users can read."""

from __future__ import annotations

import os
import shlex
import stat
from collections.abc import Collection
from pathlib import Path

import click

from group_coordinator.streaming.cluster_options import DATABRICKS


def warn_if_others_read(file: Path, secrets: Collection[str]) -> None:
    """Say on standard error that other users can read the secrets of a file.

    Databricks mounts all files with the same mode, which says nothing about who reads them.
    """
    if secrets and DATABRICKS not in os.environ and file.stat().st_mode & stat.S_IROTH:
        click.echo(
            f"Warning: {file} has {', '.join(secrets)}, and every user of this machine can read it: "
            f"chmod o-r {shlex.quote(str(file))}",
            err=True,
        )
