"""`group-coordinator import`: the offsets of a file back into their groups; its options, and the checks of the file."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click
import pyarrow as pa
from kafka import OffsetAndMetadata, TopicPartition
from pyarrow import parquet

from group_coordinator.cli.export import offsets_file
from group_coordinator.cli.groups.reset import read_plans
from group_coordinator.cli.restore import (
    RestoreTarget,
    restored_groups,
    show_restored,
    target_of,
    target_options,
)
from group_coordinator.cli.shared_options import LAST_INT32, LAST_INT64
from group_coordinator.clients.past_offsets import (
    EXPORTED,
    NO_EPOCH,
    PastOffset,
    PastOffsets,
    is_chosen,
    past_offset,
)
from group_coordinator.clients.restore import RestoredOffset, for_another_cluster
from group_coordinator.report.phrases import name_text

_NEEDED = ("group_id", "topic", "partition", "committed_offset")
_NUMBERS = {
    "partition": (0, LAST_INT32),
    "committed_offset": (0, LAST_INT64),
    "leader_epoch": (NO_EPOCH, LAST_INT32),
}
_OPTIONAL = ("leader_epoch", "metadata", "cluster_id", "topic_id")


class OffsetsOfFile(NamedTuple):
    """Offsets of each group; `cluster_id` None: the file does not name its cluster."""

    cluster_id: str | None
    groups: Mapping[str, PastOffsets]


def read_offsets(file: Path, group_ids: Sequence[str]) -> OffsetsOfFile:
    """Offsets of a file. Raises ClickException, with file, line, column, value and remedy.

    `group_ids` are those of the command line: lines of a CSV file without a group belong to the only one.
    """
    try:
        if file.suffix == ".parquet":
            found = _of_parquet(file)
        else:
            found = OffsetsOfFile(None, _of_csv(file, group_ids))
    except (OSError, pa.ArrowException) as error:
        raise click.ClickException(
            f"{file}: {error}: give a file that `group-coordinator export` wrote"
        ) from error
    except click.UsageError as error:
        raise click.ClickException(error.message) from error
    if not found.groups:
        raise click.ClickException(f"{file} has no offsets: export the groups again")
    return found


def _of_csv(file: Path, group_ids: Sequence[str]) -> dict[str, PastOffsets]:
    # Metadata is not known, so that an offset that is the same keeps its own.
    return {
        group_id: {
            one: PastOffset(OffsetAndMetadata(offset, None, NO_EPOCH), None)
            for one, offset in offsets.items()
        }
        for group_id, offsets in read_plans(file, group_ids).items()
    }


def _of_parquet(file: Path) -> OffsetsOfFile:
    with parquet.ParquetFile(file) as opened:
        names = opened.schema_arrow.names
        missing = [name for name in _NEEDED if name not in names]
        if missing:
            raise click.ClickException(
                f"{file}: the column {missing[0]} is missing: the columns {', '.join(_NEEDED)} are needed"
            )
        chosen = [*_NEEDED, *(name for name in _OPTIONAL if name in names)]
        batches = opened.iter_batches(columns=chosen)
        return _of_rows(file, (row for batch in batches for row in batch.to_pylist()))


def _of_rows(file: Path, rows: Iterator[dict[str, Any]]) -> OffsetsOfFile:
    groups: dict[str, dict[TopicPartition, PastOffset]] = defaultdict(dict)
    cluster_id = None
    for number, row in enumerate(rows, start=1):
        place = f"{file}: row {number}"
        _check(place, row)
        of_group, one = groups[row["group_id"]], TopicPartition(row["topic"], row["partition"])
        if one in of_group:
            raise click.ClickException(
                f"{place}: group_id = {row['group_id']!r} has {one.topic}-{one.partition} in an earlier row too: remove one "
                "of the rows"
            )
        of_row = row.get("cluster_id")
        if number > 1 and of_row != cluster_id:
            raise click.ClickException(
                f"{place}: cluster_id = {of_row!r}, but {cluster_id!r} in the rows before: give a file of one cluster"
            )
        cluster_id, of_group[one] = of_row, _offset(row)
    return OffsetsOfFile(cluster_id, groups)


def _check(place: str, row: Mapping[str, Any]) -> None:
    for name, value in row.items():
        if value is None and EXPORTED.field(name).nullable:
            continue
        if name in _NUMBERS:
            least, most = _NUMBERS[name]
            if type(value) is not int or not least <= value <= most:
                raise click.ClickException(
                    f"{place}: {name} = {value!r} is not a whole number from {least} to {most}: correct it"
                )
        elif not isinstance(value, str):
            raise click.ClickException(f"{place}: {name} = {value!r} is not a text: correct it")


def _offset(row: dict[str, Any]) -> PastOffset:
    past = past_offset({"leader_epoch": None, "metadata": None, "topic_id": None} | row)
    if "metadata" in row:
        return past
    return past._replace(committed=past.committed._replace(metadata=None))


@click.command()
@click.option(
    "--input",
    "file",
    required=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    callback=offsets_file,
    metavar="FILE",
    help="A file of `export`, FILE.parquet or FILE.csv, or a CSV file of Kafka's tool.",
)
@click.option(
    "--group",
    "group_ids",
    multiple=True,
    metavar="GROUP",
    help="Only this group of the file. Repeatable.",
)
@target_options
@click.pass_context
def command(
    context: click.Context, /, *, file: Path, group_ids: Sequence[str], **given: Any
) -> None:
    """Put the committed offsets of a file back into their groups, as `restore` does with those of the tables.

    The command shows the offsets now, those of the file, and those after the import; only --execute writes them. It is
    safe to repeat. Columns and rules are those of `restore`: offset_then is the offset of the file, a group with members
    is not changed, and each new offset is one that the log still has.

    With --to-bootstrap-server the groups of any cluster are written, by Kafka's own API and without the tables. Otherwise
    the tables say whether the groups are those of a mirrored cluster or of the job.

    A Parquet file has metadata and leader epochs too. A CSV file has one of two forms, both without a header line:
    group,topic,partition,offset, or topic,partition,offset with one --group. Of several lines for a partition the last
    counts, as in Kafka's tool.

    \b
    Examples:
      group-coordinator import --input eu-1.parquet --cluster eu-1 --bootstrap-server kafka-1:9092
      group-coordinator import --input eu-1.parquet --to-bootstrap-server standby:9092 --execute
      group-coordinator import --input billing.csv --group billing --topic orders:0,1 --execute
    """  # noqa: D301 - \b is click's mark for lines that stay as they are
    target = target_of(**given)._replace(lack="is not in the file")
    then = _chosen(file, list(dict.fromkeys(group_ids)), target)

    def restored() -> list[RestoredOffset]:
        return restored_groups(target, then)

    show_restored(context, target, restored)


def _chosen(file: Path, group_ids: Sequence[str], target: RestoreTarget) -> dict[str, PastOffsets]:
    """Chosen offsets of the file."""
    found = read_offsets(file, group_ids)
    chosen: dict[str, PastOffsets] = {
        group_id: {one: past for one, past in offsets.items() if is_chosen(one, target.topics)}
        for group_id, offsets in sorted(found.groups.items())
        if not group_ids or group_id in group_ids
    }
    chosen = {group_id: offsets for group_id, offsets in chosen.items() if offsets}
    missing = [group_id for group_id in group_ids if group_id not in chosen]
    if missing or not chosen:
        groups = f"group {', '.join(map(name_text, missing))}" if missing else "these topics"
        raise click.ClickException(
            f"{file} has no offsets of {groups}: see if the names of groups and topics are right"
        )
    cluster_id = target.settings.job.cluster_id
    if found.cluster_id != cluster_id:
        if found.cluster_id is not None and target.other is None:
            click.echo(
                f"{file} has offsets of cluster {found.cluster_id}: leader epochs are left out in cluster {cluster_id}",
                err=True,
            )
        return {group_id: for_another_cluster(offsets) for group_id, offsets in chosen.items()}
    return chosen
