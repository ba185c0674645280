"""The bundle of deploy/databricks: its resources as its files say them, with values in the places of variables."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

BUNDLE = Path(__file__).parents[2] / "deploy" / "databricks"
_VARIABLE = re.compile(r"\$\{var\.(\w+)\}")
_SCHEMA = "${resources.schemas.tables.name}"


def bundle() -> dict[str, Any]:
    return read(BUNDLE / "databricks.yml")


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def resources(**chosen: str) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Kind, name and what the files say, with variables' chosen values or defaults in their places."""
    variables = {name: each["default"] for name, each in bundle()["variables"].items()} | chosen
    for file in sorted(BUNDLE.glob("resources/*.yml")):
        for kind, named in read(file)["resources"].items():
            for name, resource in named.items():
                yield kind, name, _with_values(resource, variables)


def of_kind(kind: str, **chosen: str) -> dict[str, dict[str, Any]]:
    return {name: each for found, name, each in resources(**chosen) if found == kind}


def _with_values(value: Any, variables: Mapping[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: _with_values(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [_with_values(each, variables) for each in value]
    if not isinstance(value, str):
        return value
    alone = _VARIABLE.fullmatch(value)
    if alone:
        return _with_values(variables[alone[1]], variables)
    return _VARIABLE.sub(lambda found: str(variables[found[1]]), value)


def alert_queries(catalog: str, schema: str) -> dict[str, str]:
    found = of_kind("alerts", catalog=catalog)
    return {name: each["query_text"].replace(_SCHEMA, schema) for name, each in found.items()}


def genie_queries(catalog: str, schema: str) -> dict[str, str]:
    """Query by question."""
    [space] = of_kind("genie_spaces", catalog=catalog).values()
    examples = space["serialized_space"]["instructions"]["example_question_sqls"]
    return {each["question"][0]: "".join(each["sql"]).replace(_SCHEMA, schema) for each in examples}


def dashboard() -> dict[str, Any]:
    [found] = of_kind("dashboards").values()
    content: dict[str, Any] = json.loads((BUNDLE / "resources" / found["file_path"]).read_text())
    return content


def datasets(group_id: str) -> dict[str, str]:
    """SQL by name, with the group that a reader has chosen. Databricks joins the lines as they are."""
    # Delta's parser does not hand parameters on to Spark.
    chosen = f"'{group_id}'"
    return {
        each["name"]: "".join(each["queryLines"]).replace(":group_id", chosen)
        for each in dashboard()["datasets"]
    }


def widgets() -> dict[str, dict[str, Any]]:
    """By name, of all pages."""
    pages = dashboard()["pages"]
    found = [placed["widget"] for page in pages for placed in page["layout"]]
    return {each["name"]: each for each in found}


def widget_queries(group_id: str) -> dict[str, list[str]]:
    """SQL by widget: a query's fields over its dataset, grouped if it is not of single rows."""
    chosen = datasets(group_id)
    return {
        name: [_sql(named["query"], chosen) for named in widget["queries"]]
        for name, widget in widgets().items()
    }


def _sql(asked: Mapping[str, Any], chosen: Mapping[str, str]) -> str:
    fields = [f"{each['expression']} AS `{each['name']}`" for each in asked.get("fields", ())]
    grouped = "" if asked["disaggregated"] or not fields else "GROUP BY ALL"
    return f"SELECT {', '.join(fields) or '*'} FROM ({chosen[asked['datasetName']]}) {grouped}"  # noqa: S608 - a file of our own
