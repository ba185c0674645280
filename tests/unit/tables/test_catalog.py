from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable, Transaction

from group_coordinator.tables.append import append_on_disk
from group_coordinator.tables.catalog import TableCatalog, TablesRootError
from group_coordinator.tables.state_tables import GROUP_CONFIGS


@pytest.mark.parametrize(
    ("root", "location"),
    [
        ("main.coordinator", "`main`.`coordinator`.`groups`"),
        ("my-catalog.gc", "`my-catalog`.`gc`.`groups`"),
        ("`a-b`.c", "`a-b`.`c`.`groups`"),
        ("`a b`.`c.d`", "`a b`.`c.d`.`groups`"),
    ],
)
def test_a_schema_of_a_catalog_is_quoted(root: str, location: str) -> None:
    catalog = TableCatalog(root)

    assert (catalog.is_schema, catalog.local_root) == (True, None)
    assert catalog.location("groups") == catalog.sql_name("groups") == location


@pytest.mark.parametrize(
    ("root", "location"),
    [
        ("s3a://bucket/gc", "s3a://bucket/gc/groups"),
        (
            "abfss://c@account.dfs.core.windows.net/gc/",
            "abfss://c@account.dfs.core.windows.net/gc/groups",
        ),
        ("file:/data/gc", "file:/data/gc/groups"),
        ("dbfs:gc", "dbfs:gc/groups"),
    ],
)
def test_a_scheme_makes_a_folder_that_spark_writes(root: str, location: str) -> None:
    catalog = TableCatalog(root)

    assert (catalog.is_schema, catalog.local_root) == (False, None)
    assert catalog.location("groups") == location
    assert catalog.sql_name("groups") == f"delta.`{location}`"


@pytest.mark.parametrize("root", ["/data/gc", "./a.b", "shared/tables", "my-catalog.gc/"])
def test_a_slash_makes_a_folder_of_this_machine(root: str) -> None:
    assert TableCatalog(root).local_folder("groups") == Path(root).absolute() / "groups"


@pytest.mark.parametrize("root", ["tables", "gc", "a.b.c", "`a-b", "a b.c", ".", "a."])
def test_what_is_neither_is_refused(root: str) -> None:
    with pytest.raises(TablesRootError, match="write a folder with a slash") as refusal:
        TableCatalog(root)
    assert str(refusal.value).startswith(f"tables.root = {root}: ")


@pytest.mark.parametrize("odd", ["a[b", "a]b", "a\\b", "a^b", "a|b", "a\tb", "a%20b"])
def test_a_folder_that_the_deltalake_package_cannot_write_is_refused(
    tmp_path: Path, odd: str
) -> None:
    root = tmp_path / odd / "tables"

    with pytest.raises(TablesRootError, match="cannot be written to a path with") as refusal:
        TableCatalog(str(root))

    assert str(refusal.value).startswith(f"tables.root = {root}: ")


@pytest.mark.parametrize("odd", ["a b", "it's", "{a,b}", "a*b?", "a#b", "50%", "é", "\U0001f600"])
def test_any_other_folder_takes_rows(tmp_path: Path, odd: str) -> None:
    folder = TableCatalog(str(tmp_path / odd / "tables")).local_folder(GROUP_CONFIGS.name)
    assert folder is not None
    GROUP_CONFIGS.create_on_disk(folder)

    append_on_disk(DeltaTable(folder), folder, GROUP_CONFIGS.no_rows(), Transaction("a", 1))

    assert DeltaTable(folder).transaction_version("a") == 1
