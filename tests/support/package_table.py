"""The tables of packages in lib/README.md, from the packages' docstrings, in the order of the import contracts.

    python -m tests.support.package_table [--write]

It prints the Markdown; with --write it replaces the text between the markers of the page.
"""

from __future__ import annotations

import ast
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from tests.support.table_pages import replaced

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "lib" / "README.md"
BEGIN = "<!-- packages: written by `python -m tests.support.package_table --write` -->"
END = "<!-- end of packages -->"
_CODE = ROOT / "lib" / "group_coordinator"
_BETWEEN = "Inside `core`, again from above to below:"


def package_tables() -> str:
    """Return Markdown with a row for each package, and a row for each module that an import contract names."""
    outside, inside = _rows("layers", _CODE), _rows("core-layers", _CODE / "core")
    return "\n".join([*_table(outside), "", _BETWEEN, "", *_table(inside)])


def with_packages(page: str) -> str:
    """Return the page with the current tables between its markers."""
    return replaced(page, BEGIN, END, package_tables())


def _table(rows: Iterator[str]) -> list[str]:
    return ["| place | content |", "|---|---|", *rows]


def _rows(contract: str, container: Path) -> Iterator[str]:
    for name in _layers(contract):
        module = container / f"{name}.py"
        if module.exists():
            yield _row(f"{name}.py", module)
            continue
        yield _row(f"{name}/", container / name / "__init__.py")
        # The packages of core have a table of their own.
        if name != "core":
            for init in sorted((container / name).rglob("*/__init__.py")):
                yield _row(f"{init.parent.relative_to(container)}/", init)


def _layers(contract: str) -> Iterator[str]:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    [found] = [
        each for each in settings["tool"]["importlinter"]["contracts"] if each["id"] == contract
    ]
    for layer in found["layers"]:
        for name in layer.split("|"):
            yield name.strip(" ()")


def _row(name: str, file: Path) -> str:
    said = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
    if said is None:
        raise LookupError(f"{file} has no docstring")
    first, *more = said.split("\n\n")
    # A module's further paragraphs are for its readers; a package has no other place for them.
    prose = [
        first,
        *(each for each in more if file.name == "__init__.py" and not each[0].isdigit()),
    ]
    return f"| `{name}` | {' '.join(' '.join(prose).split()).replace('|', chr(92) + '|')} |"


if __name__ == "__main__":
    if sys.argv[1:] == ["--write"]:
        PAGE.write_text(with_packages(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.stdout.write(package_tables() + "\n")
