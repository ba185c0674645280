"""Old files of Delta's own log stay at every commit of ours, and go with upkeep: real Delta tables, no JVM."""

from __future__ import annotations

import ast
import inspect
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa
import pytest
from deltalake import DeltaTable, Transaction
from deltalake.table import TableAlterer, TableOptimizer
from pyspark.sql.types import StructType

from group_coordinator import settings
from group_coordinator.driver.positions import tables_in_folder
from group_coordinator.settings import JobSettings
from group_coordinator.streaming.compaction_query import OF_COMPACTION, OF_THE_COORDINATOR
from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.catalog import TableCatalog
from group_coordinator.tables.compaction import compaction
from group_coordinator.tables.compaction.rows import Retention
from group_coordinator.tables.coordinator_log import COORDINATOR_LOG
from group_coordinator.tables.creation import SAMPLED, TABLES, upgrade_tables
from group_coordinator.tables.definition import TableDefinition
from group_coordinator.tables.failed_events import DENIALS
from group_coordinator.tables.maintenance_work import MaintenanceNote
from group_coordinator.tables.position import Position
from group_coordinator.tables.samples import TOPIC_POSITIONS, position_rows
from group_coordinator.tables.samples_store import SamplesFolder
from group_coordinator.tables.state_tables import OFFSETS
from group_coordinator.tables.thinning import ThinningLimits, thin_in_folder
from group_coordinator.tables.topic_ids import TOPIC_IDS, topic_ids_in_folder
from tests.support import commit_rows
from tests.support.log_rows import Log

LIBRARY = Path(inspect.getfile(settings)).parent
HOUR, DAY = 3_600_000, 24 * 3_600_000
NOON = 490_000 * HOUR
EU = "eu"
NO_SPARK: Any = None
ORDERS = Position("orders", 0, 100, 108, 110)
OLD_AT_ONCE = {
    "delta.logRetentionDuration": "interval 0 hours",
    "delta.deletedFileRetentionDuration": "interval 0 hours",
    "delta.checkpointInterval": "5",
}
Act = Callable[[Path], None]


def make_tables(root: Path) -> None:
    """Their logs are old at once; one lacks a column."""
    for table in TABLES:
        old = replace(table, properties={**table.properties, **OLD_AT_ONCE})
        if table is DENIALS:
            old = replace(old, schema=StructType(table.schema.fields[:-1]))
        old.create_on_disk(root / table.name)


def grow_old(folder: Path) -> None:
    """Commits before a checkpoint of the table, and behind it."""
    rows = pa.schema(DeltaTable(folder).schema()).empty_table()
    for number in range(12):
        append_on_disk(DeltaTable(folder), folder, rows, Transaction("test", number))


def log_of(folder: Path) -> set[str]:
    return {path.name for path in (folder / "_delta_log").glob("*.json")}


def job_at(root: str) -> JobSettings:
    job = replace(settings.load().job, tables_root=root, cluster_id=EU)
    return replace(job, maintenance_interval_ms=3 * HOUR, maintenance_new_files=4)


def positions(root: Path) -> SamplesFolder:
    return SamplesFolder(TableCatalog(str(root)), EU, TOPIC_POSITIONS)


def sample(root: Path) -> None:
    for at in (NOON, NOON + 1):
        positions(root).append(position_rows(EU, [ORDERS], at))


def remove_samples(root: Path) -> None:
    assert positions(root).remove_old(HOUR, NOON + DAY) == 2


def thin_samples(root: Path) -> None:
    assert positions(root).thin(DAY, NOON + 3 * DAY)


def note_a_topic_id(root: Path) -> None:
    topic_ids_in_folder(TableCatalog(str(root)), EU).note({"id": "orders"}, NOON)


def note_upkeep(root: Path) -> None:
    positions(root).notebook().replace({TOPIC_POSITIONS.name: MaintenanceNote()})


def append_to_the_log(root: Path) -> None:
    rows = (commit_rows.commit(minute, minute) for minute in range(120))
    commit_rows.append(root / COORDINATOR_LOG.name, rows)


def thin_the_log(root: Path) -> None:
    thin_in_folder(str(root / COORDINATOR_LOG.name), EU, ThinningLimits(DAY, DAY, 0))


def compact(root: Path, batch: int = 4) -> None:
    log = Log(batch, now_ms=batch, cluster_id=EU)
    log.commit("billing", "orders", 0, batch)
    compaction.compact(
        TableCatalog(str(root)), EU, log.entries(), Retention(DAY, HOUR), Transaction("rows", batch)
    )


def upgrade(root: Path) -> None:
    upgrade_tables(NO_SPARK, str(root))


def nothing(root: Path) -> None:
    assert root.is_dir()


class Story(NamedTuple):
    """What a table has before its log grows old, and what commits to it then."""

    table: TableDefinition
    before: Act
    act: Act
    commits: int = 1


STORIES = {
    "a sample": Story(TOPIC_POSITIONS, nothing, sample, commits=2),
    "samples go": Story(TOPIC_POSITIONS, sample, remove_samples),
    "samples grow fewer": Story(TOPIC_POSITIONS, sample, thin_samples),
    "a note of upkeep": Story(TOPIC_POSITIONS, nothing, note_upkeep),
    "a topic id": Story(TOPIC_IDS, nothing, note_a_topic_id),
    "rows change": Story(OFFSETS, nothing, compact),
    "history grows thin": Story(COORDINATOR_LOG, append_to_the_log, thin_the_log),
    "later columns": Story(DENIALS, nothing, upgrade),
}


@pytest.mark.parametrize("story", STORIES.values(), ids=STORIES)
def test_no_commit_removes_old_files_of_the_log(tmp_path: Path, story: Story) -> None:
    """Of two commits that remove the same ones at the same time one fails, though it is committed."""
    make_tables(tmp_path)
    story.before(tmp_path)
    folder = tmp_path / story.table.name
    grow_old(folder)
    present = log_of(folder)

    story.act(tmp_path)

    assert present <= log_of(folder)
    assert len(log_of(folder)) == len(present) + story.commits


@pytest.mark.parametrize("scheme", ["", "file://"], ids=["path", "url"])
def test_who_samples_removes_old_files_of_all_its_logs(tmp_path: Path, scheme: str) -> None:
    """Also in an object store, where no Spark commits to them either; the next process knows that it has been done."""
    make_tables(tmp_path)
    folders = [tmp_path / table.name for table in SAMPLED]
    for folder in folders:
        grow_old(folder)
    job = job_at(f"{scheme}{tmp_path}")

    looked = tables_in_folder(job).maintenance
    assert looked is not None
    looked.look(NOON)

    assert [len(log_of(folder)) < 10 for folder in folders] == [True, True, True]
    noted = positions(tmp_path).notebook().notes()
    assert {name: note.at_ms for name, note in noted.items()} == dict.fromkeys(
        ("topic_positions", "share_group_offsets", "topic_ids"), NOON
    )


def test_every_table_is_looked_after_by_one_process() -> None:
    looked_after = [*OF_THE_COORDINATOR, *OF_COMPACTION, *SAMPLED]

    assert sorted(table.name for table in looked_after) == sorted(table.name for table in TABLES)


BARE = Counter(
    {
        # To a folder that nobody else knows.
        ("clients/time_travel.py", "write_deltalake"): 1,
        # They are maintenance themselves, and maintenance_work.py says why they remove all the same; one VACUUM is Spark's.
        ("tables/maintenance_work.py", "compact"): 1,
        ("tables/maintenance_work.py", "z_order"): 1,
        ("tables/maintenance_work.py", "vacuum"): 3,
        # Spark's, and functions of our own.
        ("tables/compaction/spark.py", "merge"): 1,
        ("tables/samples_store.py", "delete"): 1,
        ("tables/compaction/compaction.py", "compact"): 2,
    }
)
"""How often, by file and name, one is called without."""


def test_whoever_commits_leaves_old_files_to_upkeep() -> None:
    """Also who is not in the stories above."""
    names = {"write_deltalake", *committing_methods()}
    bare = Counter(
        (str(path.relative_to(LIBRARY)), name)
        for path in LIBRARY.rglob("*.py")
        for name in bare_calls(ast.parse(path.read_text(encoding="utf-8")), names)
    )

    assert "merge" in names
    assert bare == BARE


def committing_methods() -> Iterator[str]:
    """Of the deltalake package; `create` makes a table that has no old files, or does nothing."""
    for owner in (DeltaTable, TableAlterer, TableOptimizer):
        for name, method in inspect.getmembers(owner, inspect.isfunction):
            if "post_commithook_properties" in inspect.signature(method).parameters:
                yield name


def bare_calls(module: ast.Module, names: set[str]) -> Iterator[str]:
    """Calls of these names in a module that imports the package, which do not say what to leave."""
    nodes = [*ast.walk(module)]
    if not any(
        isinstance(node, ast.Import | ast.ImportFrom) and "deltalake" in ast.unparse(node)
        for node in nodes
    ):
        return
    for node in nodes:
        if isinstance(node, ast.Call):
            name = ast.unparse(node.func).rpartition(".")[2]
            said = {ast.unparse(each) for each in node.keywords}
            if name in names and "post_commithook_properties=LEFT_TO_MAINTENANCE" not in said:
                yield name
