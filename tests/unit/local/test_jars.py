from __future__ import annotations

from functools import partial
from pathlib import Path
from threading import Barrier

import pytest

from group_coordinator.local.jars import JarsError, broker_jars, fetch


def test_no_class_path_waits_for_another() -> None:
    all_here = Barrier(3)

    fetch(*[partial(all_here.wait, timeout=10)] * 3)


def test_what_cannot_be_had_is_told() -> None:
    def none() -> None:
        raise JarsError("The jars could not be fetched")

    with pytest.raises(JarsError, match="could not be fetched"):
        fetch(list, none, list)


FETCHES = """#!/bin/sh
for pattern; do :; done
folder=${pattern%/*}
mkdir "$folder"
echo "run me" > "$folder/NAME"
"""
"""In the place of Java with Ivy: makes this jar."""
CHANGED = "6248afd836ea09c61ca1bf48ea940d35901789f658695583f2792e01d23cd357"
TESTED = "1ab07317eb6633241392449d329dbdc5d9251e6ffc4926860f42dd966e88bdf9"


@pytest.mark.parametrize(
    ("jar", "told"),
    [
        (
            "kafka-clients-4.4.0.jar",
            f"kafka-clients-4.4.0.jar is not the tested jar: its SHA-256 is {CHANGED}, not {TESTED}",
        ),
        (
            "kafka-clients-4.4.9.jar",
            "kafka-clients-4.4.9.jar is not one of the tested jars",
        ),
    ],
    ids=["changed", "another"],
)
def test_a_jar_that_is_not_the_one_that_was_tested_is_not_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, jar: str, told: str
) -> None:
    (tmp_path / "bin").mkdir()
    java = tmp_path / "bin" / "java"
    java.write_text(FETCHES.replace("NAME", jar))
    java.chmod(0o755)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    with pytest.raises(JarsError) as refused:
        broker_jars()

    assert str(refused.value).startswith(told)
    assert list((tmp_path / "cache").rglob("*.jar")) == []
