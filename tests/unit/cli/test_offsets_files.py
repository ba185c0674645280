"""`group-coordinator export` and `import` on groups of the job, with the coordinator and brokers of this process."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pytest
from kafka import OffsetAndMetadata, TopicPartition
from pyarrow import parquet

from group_coordinator.cli import export
from group_coordinator.clients.admin.client import AdminClient
from tests.unit.cli.conftest import BEFORE, ORDERS_0, ORDERS_1, REFUNDS_0, Run
from tests.unit.clients.billing import new_member
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess

BILLING = {ORDERS_0: OffsetAndMetadata(40, "page 4", 3), ORDERS_1: OffsetAndMetadata(60, "", -1)}
WAGES = {REFUNDS_0: OffsetAndMetadata(5, "", -1)}
RESET = {ORDERS_0: OffsetAndMetadata(10, "", -1), ORDERS_1: OffsetAndMetadata(0, "", -1)}
COMMITTED_AT = datetime(2023, 11, 14, 22, 13, 20, tzinfo=UTC)
COLUMNS = {
    "cluster_id": pa.string(),
    "group_id": pa.string(),
    "topic": pa.string(),
    "partition": pa.int32(),
    "committed_offset": pa.int64(),
    "leader_epoch": pa.int32(),
    "metadata": pa.string(),
    "commit_timestamp": pa.timestamp("us", "UTC"),
    "topic_id": pa.string(),
}


@pytest.fixture(autouse=True)
def reset_of_billing(coordinator: CoordinatorInProcess, admin: AdminClient) -> None:
    """A minute after the commits of two groups one of them is reset."""
    admin.alter_consumer_group_offsets("billing", BILLING).all()
    admin.alter_consumer_group_offsets("wages", WAGES).all()
    coordinator.sleep(60_000)
    admin.commit_reset("billing", {ORDERS_0: 10, ORDERS_1: 0}).all()
    coordinator.sleep(1_000)


def row(group_id: str, one: TopicPartition, committed: OffsetAndMetadata) -> dict[str, Any]:
    return {
        "cluster_id": "test",
        "group_id": group_id,
        "topic": one.topic,
        "partition": one.partition,
        "committed_offset": committed.offset,
        "leader_epoch": committed.leader_epoch,
        "metadata": committed.metadata,
        "commit_timestamp": COMMITTED_AT,
        "topic_id": None,
    }


def test_a_parquet_file_has_each_column_of_a_commit(run: Run) -> None:
    exported = run(f"export --output test.parquet {BEFORE}")

    assert (exported.exit_code, exported.output) == (
        0,
        "test.parquet: 3 offsets of 2 groups of cluster test\n",
    )
    written = parquet.read_table("test.parquet")
    assert {field.name: field.type for field in written.schema} == COLUMNS
    assert written.to_pylist() == [
        row("billing", ORDERS_0, BILLING[ORDERS_0]),
        row("billing", ORDERS_1, BILLING[ORDERS_1]) | {"leader_epoch": None},
        row("wages", REFUNDS_0, WAGES[REFUNDS_0]) | {"leader_epoch": None},
    ]


@pytest.mark.parametrize(
    ("choice", "lines"),
    [
        ("", ["billing,orders,0,10", "billing,orders,1,0", "wages,refunds,0,5"]),
        (BEFORE, ["billing,orders,0,40", "billing,orders,1,60", "wages,refunds,0,5"]),
        ("--topic orders:1 --topic refunds", ["billing,orders,1,0", "wages,refunds,0,5"]),
        (f"--group wages {BEFORE}", ["wages,refunds,0,5"]),
    ],
)
def test_a_csv_file_has_the_lines_of_kafkas_tool(run: Run, choice: str, lines: list[str]) -> None:
    exported = run(f"export --output test.csv {choice}")

    assert exported.exit_code == 0
    assert Path("test.csv").read_text().splitlines() == lines


def test_a_parquet_file_is_imported_with_metadata_and_epochs(
    run: Run, admin: AdminClient, coordinator: CoordinatorInProcess
) -> None:
    run(f"export --output test.parquet {BEFORE}")

    shown = run("import --input test.parquet --format csv")
    assert (shown.exit_code, shown.stderr) == (
        0,
        "Nothing was written: add --execute to write the new offsets.\n",
    )
    assert shown.stdout.splitlines() == [
        "group_id,topic,partition,offset_now,offset_then,new_offset,written,note",
        "billing,orders,0,10,40,40,false,",
        "billing,orders,1,0,60,60,false,",
        "wages,refunds,0,5,5,5,false,unchanged",
    ]
    assert admin.list_consumer_group_offsets("billing") == RESET

    imported = run("import --input test.parquet --format csv --execute")

    assert imported.exit_code == 0
    assert imported.stdout.splitlines()[1:3] == [
        "billing,orders,0,10,40,40,true,",
        "billing,orders,1,0,60,60,true,",
    ]
    assert admin.list_consumer_group_offsets("billing") == BILLING
    assert [entry["reason"] for entry in coordinator.rows[-2:]] == ["offset-restored"] * 2


def test_a_csv_file_is_imported_without_metadata(run: Run, admin: AdminClient) -> None:
    run(f"export --output test.csv {BEFORE}")

    run("import --input test.csv --execute")

    assert admin.list_consumer_group_offsets("billing") == {
        ORDERS_0: OffsetAndMetadata(40, "", -1),
        ORDERS_1: OffsetAndMetadata(60, "", -1),
    }


def test_a_csv_file_leaves_the_metadata_of_equal_offsets(run: Run, admin: AdminClient) -> None:
    run(f"export --output test.csv {BEFORE}")
    admin.alter_consumer_group_offsets("billing", BILLING).all()

    imported = run("import --input test.csv --execute --format csv")

    assert [line.rpartition(",")[2] for line in imported.stdout.splitlines()[1:]] == [
        "unchanged"
    ] * 3
    assert admin.list_consumer_group_offsets("billing") == BILLING


def test_a_part_of_a_file_is_imported(run: Run, admin: AdminClient) -> None:
    run(f"export --output test.parquet {BEFORE}")
    admin.delete_consumer_groups(["wages"]).all()

    run("import --input test.parquet --group billing --topic orders:1 --execute")

    assert admin.list_consumer_group_offsets("billing") == RESET | {ORDERS_1: BILLING[ORDERS_1]}
    assert admin.list_consumer_group_offsets("wages") == {}


def test_a_file_of_kafkas_tool_for_one_group(run: Run, admin: AdminClient) -> None:
    Path("one.csv").write_text('"orders",0,40\n"orders",1,99\n')

    imported = run("import --input one.csv --group billing --execute --format csv")

    assert imported.stdout.splitlines()[1:] == [
        "billing,orders,0,10,40,40,true,",
        "billing,orders,1,0,99,60,true,beyond the log's end: the end",
    ]
    assert admin.list_consumer_group_offsets("billing")[ORDERS_1].offset == 60


def test_leader_epochs_of_another_cluster_are_left_out(run: Run, admin: AdminClient) -> None:
    rows = [row("billing", ORDERS_0, BILLING[ORDERS_0]) | {"cluster_id": "eu-1", "topic_id": "x"}]
    parquet.write_table(pa.Table.from_pylist(rows), "eu-1.parquet")

    imported = run("import --input eu-1.parquet --execute")

    assert imported.stderr == (
        "eu-1.parquet has offsets of cluster eu-1: leader epochs are left out in cluster test\n"
    )
    assert admin.list_consumer_group_offsets("billing")[ORDERS_0] == OffsetAndMetadata(
        40, "page 4", -1
    )


def test_a_group_with_members_is_left_alone(
    run: Run, coordinator: CoordinatorInProcess, admin: AdminClient
) -> None:
    run(f"export --output test.parquet {BEFORE}")
    new_member(coordinator, "till").join()

    refused = run("import --input test.parquet --execute")

    assert refused.exit_code == 1
    assert "billing is Stable: members would commit over restored offsets" in refused.stderr
    assert admin.list_consumer_group_offsets("billing") == RESET


def test_a_file_is_replaced_whole_or_not_at_all(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Path("test.csv").write_text("older\n")

    def full(_: object, out: IO[bytes]) -> None:
        out.write(b"billing,ord")
        raise OSError(28, "No space left on device")

    monkeypatch.setitem(export.WRITERS, ".csv", full)  # type: ignore[arg-type]
    failed = run("export --output test.csv")

    assert failed.exit_code == 1
    assert failed.stderr == "Error: Could not open file 'test.csv': No space left on device\n"
    assert Path("test.csv").read_text() == "older\n"
    assert [path.name for path in tmp_path.iterdir() if path.is_file()] == ["test.csv"]


@pytest.mark.parametrize(
    ("choice", "missing"),
    [
        ("--group wages --group biling", "group biling of cluster test"),
        ("--group 'bil\ning'", r"group bil\x0aing of cluster test"),
        ("--topic invoices", "cluster test"),
        ("--as-of 2023-11-14T22:13:19Z", "cluster test"),
    ],
)
def test_an_export_without_offsets_is_an_error(run: Run, choice: str, missing: str) -> None:
    refused = run(f"export --output test.csv {choice}")

    assert (refused.exit_code, refused.stderr) == (
        1,
        (
            f"Error: {missing} has no committed offsets to export: see if the names of groups, cluster and topics and the time "
            "are right\n"
        ),
    )
    assert not Path("test.csv").exists()


@pytest.mark.parametrize("command", ["export --output", "import --input"])
def test_another_ending_is_wrong_usage(run: Run, command: str) -> None:
    Path("test.json").touch()

    refused = run(f"{command} test.json")

    assert refused.exit_code == 2
    assert (
        "'test.json' ends in neither .parquet nor .csv: give a file with one of these endings"
        in refused.stderr
    )


GIVEN = {"group_id": "billing", "topic": "orders", "partition": 0, "committed_offset": 40}


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        (
            [{name: GIVEN[name] for name in ("group_id", "topic", "partition")}],
            ": the column committed_offset is missing: the columns group_id, topic, partition, committed_offset are needed",
        ),
        (
            [GIVEN, GIVEN | {"partition": 1, "committed_offset": -1}],
            ": row 2: committed_offset = -1 is not a whole number from 0 to 9223372036854775807: correct it",
        ),
        (
            [GIVEN | {"partition": 0.5}],
            ": row 1: partition = 0.5 is not a whole number from 0 to 2147483647: correct it",
        ),
        (
            [GIVEN | {"topic": None}, GIVEN],
            ": row 1: topic = None is not a text: correct it",
        ),
        (
            [GIVEN, GIVEN],
            ": row 2: group_id = 'billing' has orders-0 in an earlier row too: remove one of the rows",
        ),
        (
            [GIVEN | {"cluster_id": "eu-1"}, GIVEN | {"partition": 1, "cluster_id": "eu-2"}],
            ": row 2: cluster_id = 'eu-2', but 'eu-1' in the rows before: give a file of one cluster",
        ),
        (
            [GIVEN | {"group_id": "wages"}],
            " has no offsets of group billing: see if the names of groups and topics are right",
        ),
    ],
)
def test_an_unusable_parquet_file(run: Run, rows: list[dict[str, Any]], said: str) -> None:
    parquet.write_table(pa.Table.from_pylist(rows), "test.parquet")

    refused = run("import --input test.parquet --group billing")

    assert (refused.exit_code, refused.stderr) == (1, f"Error: test.parquet{said}\n")


def test_a_parquet_file_without_rows(run: Run) -> None:
    parquet.write_table(pa.Table.from_pylist([GIVEN]).slice(0, 0), "test.parquet")

    refused = run("import --input test.parquet")

    assert (refused.exit_code, refused.stderr) == (
        1,
        "Error: test.parquet has no offsets: export the groups again\n",
    )


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("test.csv", "", " has no offsets: export the groups again"),
        (
            "test.csv",
            "billing,orders,0,40\nbilling,orders,1,-1\n",
            (
                ":2: OFFSET = '-1' is not a whole number from 0 to 9223372036854775807: correct it; the file must not have a "
                "header line"
            ),
        ),
        (
            "test.csv",
            "orders,0,40\n",
            (
                ":1: not GROUP,TOPIC,PARTITION,OFFSET: 'orders,0,40' has 3 fields: correct the line; a file without groups needs "
                "one --group"
            ),
        ),
        (
            "test.csv",
            b"b\xfcro,orders,0,40\n",
            ": 'utf-8' codec can't decode byte 0xfc in position 1: invalid start byte: give a CSV file in UTF-8",
        ),
        (
            "test.parquet",
            "",
            ": Parquet file size is 0 bytes: give a file that `group-coordinator export` wrote",
        ),
    ],
)
def test_an_unusable_file(run: Run, name: str, text: str | bytes, said: str) -> None:
    Path(name).write_bytes(text.encode() if isinstance(text, str) else text)

    refused = run(f"import --input {name}")

    assert (refused.exit_code, refused.stderr) == (1, f"Error: {name}{said}\n")


def test_an_import_names_a_missing_group_in_one_line(run: Run) -> None:
    Path("test.csv").write_text("billing,orders,0,40\n")

    refused = run("import --input test.csv --group billing --group 'bil\ning'")

    assert (refused.exit_code, refused.stderr) == (
        1,
        "Error: test.csv has no offsets of group bil\\x0aing: see if the names of groups and topics are right\n",
    )
