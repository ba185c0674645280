"""The folder of a demo with all its files; at the end files that the user does not keep are removed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from pathlib import Path
from shutil import rmtree

from msgspec import json


class DemoFolder:
    """Paths of the files in the folder; `tables`, `report` and `metrics` stay at the end."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.tables = path / "tables"
        self.report = path / "report.html"
        self.metrics = path / "metrics.txt"
        self.checkpoint = path / "checkpoint"
        self.broker = path / "broker"
        self.settings = path / "coordinator.toml"
        self.scratch = path / "scratch"
        """Spark's working directory."""
        self.progress = path / "progress.json"
        """The job's last batch."""

    def output(self, command: str) -> Path:
        """Return the output file of a command."""
        return self.path / "output" / f"{command}.txt"

    def make(self) -> None:
        self.output("any").parent.mkdir(parents=True)
        self.scratch.mkdir()

    def write_settings(self, values: Mapping[str, str | int]) -> None:
        """Write the settings that differ from conf/coordinator.toml, and the places of tables and checkpoint."""
        places = {
            "tables.root": str(self.tables),
            "checkpoint.location": str(self.checkpoint),
        }
        # Quoted keys are valid in TOML, whatever dots they have.
        lines = [
            f"{_text(key)} = {_text(value) if isinstance(value, str) else value}"
            for key, value in {**values, **places}.items()
        ]
        self.settings.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def shown(self, path: Path) -> str:
        """Return a path as the user can type it in a shell of the current folder."""
        return shlex.quote(os.path.relpath(path))

    def remove_scaffolding(self) -> None:
        """Remove all files except those that the closing page names."""
        for entry in self.path.iterdir():
            if entry not in (self.tables, self.report, self.metrics):
                _remove(entry)

    def remove(self) -> None:
        _remove(self.path)


def _text(value: str) -> str:
    # JSON's strings are valid in TOML too.
    return json.encode(value).decode()


def _remove(path: Path) -> None:
    if path.is_dir():
        rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
