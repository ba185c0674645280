"""The chart of deploy/helm, rendered by Helm, which `go install` builds once into the user's cache.

    python -m tests.support.chart --write

It writes the table of values in the chart's README.md from the schema, and the manifests of deploy/kubernetes.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from tests.support.go_programs import go_program
from tests.support.table_pages import replaced

DEPLOY = Path(__file__).parents[2] / "deploy"
CHART = DEPLOY / "helm"
PLAIN = DEPLOY / "kubernetes"
PAGE = CHART / "README.md"
BEGIN = "<!-- values: written by `python -m tests.support.chart --write` -->"
END = "<!-- end of values -->"
RELEASE = "group-coordinator"
TEMPLATES = ("access", "settings", "network", "storage", "create-tables", "coordinator")
"""Templates that make the manifests of the same names with default values."""
Values = Mapping[str, Any]


def helm(*arguments: str, values: Values | None = None) -> subprocess.CompletedProcess[str]:
    """Run Helm with the values on its standard input. Raises GoMissingError: it cannot be built."""
    program = go_program("helm")
    given = ["--values", "-"] if values is not None else []
    return subprocess.run(  # noqa: S603 - a fixed program
        [program, *arguments, *given],
        input=json.dumps(values),
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(values: Values | None = None, *options: str) -> str:
    """Return the text of all objects. Raises ValueError: Helm rejects the values."""
    # A Helm of `go install` takes Kubernetes to be 1.20.
    target = ("--namespace", RELEASE, "--kube-version", "1.31.0")
    done = helm("template", RELEASE, str(CHART), *target, *options, values=values or {})
    if done.returncode:
        raise ValueError(done.stderr)
    return done.stdout


def objects(values: Values | None = None) -> list[dict[str, Any]]:
    return [each for each in yaml.safe_load_all(rendered(values)) if each]


def plain_manifest(template: str) -> str:
    """Return a manifest of deploy/kubernetes: the output of a template without Helm's own lines."""
    shown = rendered({"createTables": {"hook": False}}, "--show-only", f"templates/{template}.yaml")
    parts = [part.strip() for part in shown.split("---\n") if part.strip()]
    texts = (part.partition("# Source: ")[2].partition("\n")[2].strip("\n") for part in parts)
    return "\n---\n".join(text for text in texts if text) + "\n"


def values_table() -> str:
    """Return Markdown with a row for each value, in the order of the schema."""
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))
    rows = (
        f"| `{name}` | {json.dumps(default) if default != '' else ''} | {meaning} |"
        for name, default, meaning in _values(schema, defaults, "")
    )
    return "\n".join(["| value | default | meaning |", "|---|---|---|", *rows])


def _values(schema: Values, defaults: Any, before: str) -> Iterator[tuple[str, Any, str]]:
    for name, part in schema["properties"].items():
        if name not in defaults:
            continue
        if "properties" in part:
            yield from _values(part, defaults[name], f"{before}{name}.")
        else:
            yield f"{before}{name}", defaults[name], part["description"]


def with_values(page: str) -> str:
    """Return the page with the current table between its markers."""
    return replaced(page, BEGIN, END, values_table())


if __name__ == "__main__" and sys.argv[1:] == ["--write"]:
    PAGE.write_text(with_values(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    for name in TEMPLATES:
        (PLAIN / f"{name}.yaml").write_text(plain_manifest(name), encoding="utf-8")
