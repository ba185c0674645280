"""How Spark's Java is started for tests: it lives for seconds, and most of that is its start."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from tempfile import gettempdir
from typing import Final

OPTIONS: Final = (
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m "
    "-XX:+UseSerialGC -Xms512m -Xmn256m -XX:MetaspaceSize=256m -XX:-UsePerfData"
)
"""The second compiler would work for code that is not run any more; room from the start spares collections of what little
there is."""

_SILENT: Final = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""Java would say so each time that an archive was made for another class path."""


_OF_A_JOB, _OF_A_BROKER = "job.jsa", "broker.jsa"
"""Archives in a folder."""


def classes_kept_in(folder: Path) -> Mapping[str, str]:
    """Variables with which JVMs write archives of their classes at their end."""
    return _variables("-XX:ArchiveClassesAtExit", folder)


def classes_taken_from(folder: str) -> Mapping[str, str]:
    """Variables with which JVMs begin with the classes of archives, where there are any and Java can use them.

    Java runs what is in them: `folder` is one that no other user writes to, or empty.
    """
    if folder and Path(folder, _OF_A_JOB).exists():
        return _variables("-XX:SharedArchiveFile", Path(folder))
    return {"SPARK_SUBMIT_OPTS": _options()}


def _variables(option: str, folder: Path) -> Mapping[str, str]:
    """Java archives nothing where the class path has a folder of files in it, as the one with Spark's settings is."""
    return {
        "SPARK_SUBMIT_OPTS": f'{_options()} {option}="{folder / _OF_A_JOB}" {_SILENT}',
        "SPARK_CONF_DIR": str(folder / "no-settings-of-spark"),
        "KAFKA_OPTS": f'{option}="{folder / _OF_A_BROKER}" {_SILENT}',
    }


def _options() -> str:
    return f'{OPTIONS} -Djava.io.tmpdir="{gettempdir()}"'
