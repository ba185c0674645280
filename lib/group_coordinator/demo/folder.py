"""The folder of a demo with all its files; at the end files that the user does not keep are removed."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from shutil import rmtree

from msgspec import json


@dataclass(frozen=True, slots=True)
class DemoFolder:
    """Paths of the files in the folder."""

    path: Path

    @property
    def tables(self) -> Path:
        """The Delta tables, which stay."""
        return self.path / "tables"

    @property
    def chart(self) -> Path:
        """The chart, a file that stays."""
        return self.path / "chart.png"

    @property
    def meters(self) -> Path:
        """The job's metrics page, which stays."""
        return self.path / "metrics.txt"

    @property
    def report(self) -> Path:
        """The report of a mirror, which stays."""
        return self.path / "report.html"

    @property
    def checkpoint(self) -> Path:
        """The folder of Spark's checkpoints."""
        return self.path / "checkpoint"

    @property
    def broker(self) -> Path:
        """The broker's data: the topics."""
        return self.path / "broker"

    @property
    def settings(self) -> Path:
        """The settings file of all commands."""
        return self.path / "coordinator.toml"

    @property
    def scratch(self) -> Path:
        """The working directory of Spark."""
        return self.path / "scratch"

    @property
    def progress(self) -> Path:
        """The progress file with the job's last batch."""
        return self.path / "progress.json"

    def output(self, command: str) -> Path:
        """Return the output file of a command."""
        return self.path / "output" / f"{command}.txt"

    def make(self) -> None:
        self.output("any").parent.mkdir(parents=True)
        self.scratch.mkdir()

    def write_settings(self, values: Mapping[str, str | int]) -> None:
        """Write the settings file; quoted keys are valid in TOML, whatever dots they have."""
        lines = [
            f"{_text(key)} = {_text(value) if isinstance(value, str) else value}"
            for key, value in values.items()
        ]
        self.settings.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def shown(self, path: Path) -> str:
        """Return a path as the user can type it in a shell of the current folder."""
        return shlex.quote(os.path.relpath(path))

    def remove_scaffolding(self) -> None:
        """Remove all files except those that the closing words name."""
        for entry in self.path.iterdir():
            if entry not in (self.tables, self.chart, self.meters, self.report):
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
