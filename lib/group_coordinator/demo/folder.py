"""The one folder of a demo: it has everything, and files that the user does not keep are removed at the end."""

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
    """Paths below it."""

    path: Path

    @property
    def tables(self) -> Path:
        """The Delta tables, which stay."""
        return self.path / "tables"

    @property
    def chart(self) -> Path:
        """The chart, which stays."""
        return self.path / "chart.png"

    @property
    def meters(self) -> Path:
        """What Prometheus would have read of the job, which stays."""
        return self.path / "metrics.txt"

    @property
    def report(self) -> Path:
        """The report of a mirror, which stays."""
        return self.path / "report.html"

    @property
    def checkpoint(self) -> Path:
        """Spark's checkpoint."""
        return self.path / "checkpoint"

    @property
    def broker(self) -> Path:
        """The topics."""
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
        """The figures of the job's last batch."""
        return self.path / "progress.json"

    def output(self, command: str) -> Path:
        """The output of a command."""
        return self.path / "output" / f"{command}.txt"

    def make(self) -> None:
        """Create it."""
        self.output("any").parent.mkdir(parents=True)
        self.scratch.mkdir()

    def write_settings(self, values: Mapping[str, str | int]) -> None:
        """Write the settings file; a key in quotes is a key of TOML whatever dots it has."""
        lines = [
            f"{_text(key)} = {_text(value) if isinstance(value, str) else value}"
            for key, value in values.items()
        ]
        self.settings.write_text("\n".join([*lines, ""]), encoding="utf-8")

    def shown(self, path: Path) -> str:
        """A path as the user can type it in a shell of the current folder."""
        return shlex.quote(os.path.relpath(path))

    def remove_scaffolding(self) -> None:
        """Remove everything but what the closing words point to."""
        for entry in self.path.iterdir():
            if entry not in (self.tables, self.chart, self.meters, self.report):
                _remove(entry)

    def remove(self) -> None:
        """Remove it all."""
        _remove(self.path)


def _text(value: str) -> str:
    """JSON's strings are TOML's too."""
    return json.encode(value).decode()


def _remove(path: Path) -> None:
    if path.is_dir():
        rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
