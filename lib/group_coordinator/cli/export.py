"""`group-coordinator export`: a cluster's committed offsets as a file; its options and formats."""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import IO

import click
import pyarrow as pa
from kafka import TopicPartition
from pyarrow import parquet

from group_coordinator.cli.groups import reset
from group_coordinator.cli.groups.options import topics_of
from group_coordinator.cli.query_output import rows_of
from group_coordinator.cli.shared_options import as_of_option, settings_options
from group_coordinator.clients.as_of_time import AsOfTime
from group_coordinator.clients.errors import ClientError
from group_coordinator.clients.past_offsets import PastTables
from group_coordinator.report.phrases import name_text
from group_coordinator.settings import load

Writer = Callable[[pa.Table, IO[bytes]], object]


def _write_csv(offsets: pa.Table, out: IO[bytes]) -> None:
    """Write the lines of Kafka's tool: GROUP,TOPIC,PARTITION,OFFSET, without a header."""
    plans: dict[str, dict[TopicPartition, int]] = defaultdict(dict)
    columns = ["group_id", "topic", "partition", "committed_offset"]
    for group_id, topic, partition, offset in rows_of(offsets.select(columns)):
        plans[group_id][TopicPartition(topic, partition)] = offset
    out.write(reset.export(plans, with_groups=True).encode())


WRITERS: Mapping[str, Writer] = {".parquet": parquet.write_table, ".csv": _write_csv}
"""Writer of each ending of a file."""


def offsets_file(_: click.Context, parameter: click.Parameter, file: Path) -> Path:
    """Check the ending of a file of offsets, as a callback of its option."""
    if file.suffix not in WRITERS:
        raise click.BadParameter(
            f"{str(file)!r} ends in neither {' nor '.join(WRITERS)}: give a file with one of these endings",
            param=parameter,
        )
    return file


@click.command()
@click.option(
    "--output",
    "file",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    callback=offsets_file,
    metavar="FILE",
    help="The new file, FILE.parquet or FILE.csv; an older one is replaced.",
)
@as_of_option
@click.option(
    "--group", "group_ids", multiple=True, metavar="GROUP", help="Only this group. Repeatable."
)
@click.option(
    "--topic",
    "topics",
    multiple=True,
    metavar="TOPIC[:N,N]",
    help="Only this topic, or some partitions of it. Repeatable.",
)
@click.option("--cluster", metavar="NAME", help="The cluster's name in the tables. [cluster.id]")
@click.option("--tables", metavar="FOLDER", help="The folder of the tables. [tables.root]")
@settings_options
def command(
    file: Path,
    as_of: datetime | None,
    group_ids: tuple[str, ...],
    topics: tuple[str, ...],
    cluster: str | None,
    tables: str | None,
    config: Path | None,
    overrides: tuple[str, ...],
) -> None:
    """Write the committed offsets of a cluster's groups to a file, for `import` or for Kafka's own tool.

    \b
    FILE.parquet   all that a commit has: offset, leader epoch, metadata, time; import puts all but the time back
    FILE.csv       group,topic,partition,offset, as kafka-consumer-groups --export writes them, and as its
                   --reset-offsets --from-file reads them (it reads no group ids with line breaks; import does)

    The offsets are those of the last compaction, or with --as-of those of any time since the log's first record. The file
    is replaced when it is complete: an error leaves an older file as it was.

    \b
    Examples:
      group-coordinator export --cluster eu-1 --output eu-1.parquet
      group-coordinator export --as-of 2024-01-02T03:04:05Z --group billing --topic orders:0,1 --output billing.csv
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    given = {"cluster.id": cluster, "tables.root": tables}
    named = [f"{key}={value}" for key, value in given.items() if value is not None]
    settings = load(config, [*overrides, *named])
    cluster_id = settings.job.cluster_id
    past = PastTables(settings.job.tables_root, cluster_id, group_ids, topics_of(topics))
    try:
        offsets = past.exported(None if as_of is None else AsOfTime(as_of, settings.coordinator))
    except ClientError as error:
        raise click.ClickException(str(error)) from error
    exported = set(offsets["group_id"].unique().to_pylist())
    _check_names(past, exported)
    with _written_whole(file) as out:
        WRITERS[file.suffix](offsets, out)
    click.echo(
        f"{file}: {offsets.num_rows} offsets of {len(exported)} groups of cluster {cluster_id}"
    )


def _check_names(past: PastTables, exported: set[str]) -> None:
    missing = [group_id for group_id in past.group_ids if group_id not in exported]
    if missing or not exported:
        groups = f"group {', '.join(map(name_text, missing))} of " if missing else ""
        raise click.ClickException(
            f"{groups}cluster {past.cluster_id} has no committed offsets to export: see if the names of groups, cluster and "
            "topics and the time are right"
        )


@contextmanager
def _written_whole(file: Path) -> Iterator[IO[bytes]]:
    """Open a file of another name in the same folder, which replaces `file` at the end of the block."""
    temporary = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        with temporary.open("xb") as out:
            yield out
            out.flush()
            # Otherwise a crash of the machine could leave an empty file under the new name.
            os.fsync(out.fileno())
        temporary.replace(file)
    except OSError as error:
        raise click.FileError(str(file), error.strerror) from error
    finally:
        temporary.unlink(missing_ok=True)
