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
from tests.support.extremes import extreme_tables
from tests.support.recorded_cluster import recorded_cluster

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


@pytest.mark.parametrize("notebook", NOTEBOOKS, ids=lambda path: path.stem)
def test_groups_of_one_name_in_two_clusters_are_not_taken_for_one(notebook: Path) -> None:
    about_groups = [source for source in code_of(notebook) if "group_id" in source]

    assert about_groups
    assert [source for source in about_groups if "cluster_id" not in source] == []


def test_they_run(tmp_path: Path) -> None:
    """On what a real broker wrote, without samples of lag, on a day that is made up, and beside numbers and times of any size.

    They run one after the other in one kernel, which forgets everything between them: to start one takes longer than to run.
    """
    played = [
        (recorded_cluster, ("1_tour_of_the_tables", "2_life_of_one_group", "4_expiring_and_lost")),
        (busy_day, ("1_tour_of_the_tables", "3_lag_over_a_day", "4_expiring_and_lost")),
        (extreme_tables, tuple(path.stem for path in NOTEBOOKS)),
    ]
    cells = []
    for make, names in played:
        here = tmp_path / make.__name__
        make(here / "group-coordinator-tables")
        # Where a user's Jupyter starts a notebook: in its own folder.
        (here / "notebooks").mkdir()
        cells += [
            nbformat.v4.new_code_cell(source)
            for name in names
            for source in (
                "%reset -f",
                f"%cd -q {here}/notebooks",
                *code_of(FOLDER / f"{name}.ipynb"),
            )
        ]
    whole = nbformat.v4.new_notebook(cells=cells)
    NotebookClient(whole, timeout=60, kernel_name="python3").execute()

    outputs = [output for cell in cells for output in cell["outputs"]]
    shown = [output["data"] for output in outputs if output["output_type"] != "stream"]
    assert [data["text/plain"] for data in shown].count("alt.Chart(...)") == 22
    for fact in ("User:anna", "offset-expired", "topic-deleted", "subscription"):
        assert any(f"<td>{fact}</td>" in data.get("text/html", "") for data in shown), fact
