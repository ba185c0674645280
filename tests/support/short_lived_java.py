"""How Spark's Java is started for tests: it lives for seconds, and most of that is its start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Final

OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:+UseSerialGC -XX:-UsePerfData"
)
"""The second compiler would work for code that is not run any more."""

_SILENT: Final = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""Java would say so each time that an archive was made for another class path."""


def classes_kept_in(archive: Path) -> Mapping[str, str]:
    """Variables with which a JVM writes an archive of its classes at its end."""
    return _without_folder_of_files(f'-XX:ArchiveClassesAtExit="{archive}"')


def classes_taken_from(archive: Path) -> Mapping[str, str]:
    """Variables with which a JVM begins with the classes of an archive, if there is one and it can use it."""
    if not archive.exists():
        return {"SPARK_SUBMIT_OPTS": _options()}
    return _without_folder_of_files(f'-XX:SharedArchiveFile="{archive}"')


def _without_folder_of_files(option: str) -> Mapping[str, str]:
    """Java archives nothing where the class path has a folder of files in it, as the one with Spark's settings is."""
    return {
        "SPARK_SUBMIT_OPTS": f"{_options()} {option} {_SILENT}",
        "SPARK_CONF_DIR": str(Path(gettempdir(), "no-settings-of-spark")),
    }


def _options() -> str:
    return f'{OPTIONS} -Djava.io.tmpdir="{gettempdir()}"'
