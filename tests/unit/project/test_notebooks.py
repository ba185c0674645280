"""The notebooks of notebooks/: plain, without outputs, and they run."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.busy_day import busy_day

FOLDER = Path(__file__).parents[3] / "notebooks"
NOTEBOOKS = sorted(FOLDER.glob("*.ipynb"))
DEFINITIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef, ast.Lambda)


def cells_of(notebook: Path) -> list[dict[str, Any]]:
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    return cells


def code_of(notebook: Path) -> list[str]:
    return ["".join(cell["source"]) for cell in cells_of(notebook) if cell["cell_type"] == "code"]


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_short_and_plain(notebook: Path) -> None:
    cells = cells_of(notebook)
    trees = [ast.parse(source) for source in code_of(notebook)]

    assert len(cells) <= 12
    assert [
        node for tree in trees for node in ast.walk(tree) if isinstance(node, DEFINITIONS)
    ] == []
    assert [cell for cell in cells if cell.get("outputs") or cell.get("execution_count")] == []


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_opens_the_tables_as_the_others_do(notebook: Path) -> None:
    assert code_of(notebook)[0] == code_of(NOTEBOOKS[0])[0]
    assert [source for source in code_of(notebook)[1:] if "TableFolder" in source] == []


def test_they_run(tmp_path: Path) -> None:
    """One after the other in one kernel, which forgets everything between them: to start one takes longer than to run."""
    busy_day(tmp_path / "group-coordinator-tables")
    (tmp_path / "notebooks").mkdir()
    cells = [
        nbformat.v4.new_code_cell(source)
        for notebook in NOTEBOOKS
        for source in ("%reset -f", *code_of(notebook))
    ]
    whole = nbformat.v4.new_notebook(cells=cells)

    # Where a user's Jupyter starts a notebook: in its own folder.
    resources = {"metadata": {"path": str(tmp_path / "notebooks")}}
    NotebookClient(whole, timeout=60, kernel_name="python3", resources=resources).execute()

    shown = [output["data"] for cell in cells for output in cell["outputs"]]
    assert [data["text/plain"] for data in shown].count("alt.Chart(...)") == 9
    for fact in ("User:anna", "offset-expired", "subscription"):
        assert any(f"<td>{fact}</td>" in data.get("text/html", "") for data in shown), fact
