from __future__ import annotations

from pathlib import Path

import pytest

from group_coordinator.streaming.spark_lines import LINES, UnknownSparkError, line_of, newer_than


@pytest.mark.parametrize(
    ("version", "connector", "delta"),
    [
        ("4.0.0", "4.0.0", "delta-spark_4.0_2.13:4.4.0"),
        ("4.0.4", "4.0.0", "delta-spark_4.0_2.13:4.4.0"),
        ("4.1.4", "4.1.3", "delta-spark_4.1_2.13:4.4.0"),
        ("4.2.0", "4.2.0", "delta-spark_4.2_2.13:4.4.0"),
        ("4.2.1.dev0", "4.2.0", "delta-spark_4.2_2.13:4.4.0"),
        ("4.2rc1", "4.2.0", "delta-spark_4.2_2.13:4.4.0"),
    ],
)
def test_a_version_has_the_jars_of_its_line(version: str, connector: str, delta: str) -> None:
    line = line_of(version)

    assert line.connector == f"org.apache.spark:spark-sql-kafka-0-10_2.13:{connector}"
    assert line.delta == f"io.delta:{delta}"


@pytest.mark.parametrize("version", ["4.3.0", "4.3.0.dev1", "4.10.0", "5.0rc1"])
def test_a_newer_spark_is_told_by_the_newest_line_and_its_jars_are_not_known(version: str) -> None:
    with pytest.raises(UnknownSparkError) as refused:
        line_of(version)

    assert newer_than(version) == "4.2"
    assert str(refused.value) == (
        f"PySpark {version} is newer than 4.2, the newest that the job is tested with, and its jars are "
        "unknown: install PySpark 4.2, or submit the job with its jars (jobs/README.md)"
    )


@pytest.mark.parametrize("version", ["4.0.0", "4.1.4", "4.2.1.dev0"])
def test_a_known_spark_is_not_newer(version: str) -> None:
    assert newer_than(version) is None


@pytest.mark.parametrize("version", ["3.5.9", "3.10.0", "3.9rc1", "4", "unknown"])
def test_an_older_spark_is_refused_by_a_sentence_that_names_both(version: str) -> None:
    with pytest.raises(UnknownSparkError) as refused:
        newer_than(version)

    assert str(refused.value) == (f"PySpark {version} is not supported: install 4.0 or 4.1 or 4.2")


def test_a_line_without_a_token_provider_of_its_own_takes_one_that_can_be_had() -> None:
    providers = {line: version(jars.token_provider) for line, jars in LINES.items()}

    assert providers == {"4.0": "4.0.0", "4.1": "4.0.0", "4.2": "4.2.0"}


def test_the_page_has_the_same_table() -> None:
    page = (Path(__file__).parents[2] / "sparks" / "README.md").read_text(encoding="utf-8")

    rows = [
        f"| {line} | {version(jars.connector)} | {version(jars.token_provider)} "
        f"| `{jars.delta.removeprefix('io.delta:')}` |"
        for line, jars in LINES.items()
    ]

    assert "\n".join(rows) + "\n\n" in page


def version(jar: str) -> str:
    return jar.rsplit(":", 1)[1]
