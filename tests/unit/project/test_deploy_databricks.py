"""The bundle, read by the classes that Databricks publishes for its resources: they refuse keys that they do not have."""

from __future__ import annotations

import re
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from databricks.bundles.alerts import Alert
from databricks.bundles.jobs import Job
from databricks.bundles.schemas import Schema
from databricks.bundles.volumes import Volume

from group_coordinator import settings
from group_coordinator.cli.submitted import jobs as commands
from group_coordinator.streaming.spark_lines import LINES

BUNDLE = Path(__file__).parents[3] / "deploy" / "databricks"
CLASSES: dict[str, Any] = {"alerts": Alert, "jobs": Job, "schemas": Schema, "volumes": Volume}
VARIABLE = re.compile(r"\$\{var\.(\w+)\}")
ANY_REFERENCE = re.compile(r"\$\{([\w.]+)\}")
KNOWN = {
    "bundle.name",
    "bundle.target",
    "resources.schemas.tables.name",
    "workspace.file_path",
}
"""What a bundle knows besides its variables."""


def bundle() -> dict[str, Any]:
    return read(BUNDLE / "databricks.yml")


def read(file: Path) -> dict[str, Any]:
    content: dict[str, Any] = yaml.safe_load(file.read_text(encoding="utf-8"))
    return content


def resources() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Kind, name and what the files say, with the variables' defaults in their places."""
    for file in sorted(BUNDLE.glob("resources/*.yml")):
        for kind, named in read(file)["resources"].items():
            for name, resource in named.items():
                yield kind, name, with_defaults(resource)


def with_defaults(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: with_defaults(each) for key, each in value.items()}
    if isinstance(value, list):
        return [with_defaults(each) for each in value]
    if not isinstance(value, str):
        return value
    defaults = {name: each["default"] for name, each in bundle()["variables"].items()}
    alone = VARIABLE.fullmatch(value)
    if alone:
        return with_defaults(defaults[alone[1]])
    return VARIABLE.sub(lambda found: str(defaults[found[1]]), value)


RESOURCES = [pytest.param(*each, id=f"{each[0]}.{each[1]}") for each in resources()]
JOBS = {name: resource for kind, name, resource in resources() if kind == "jobs"}


@pytest.mark.parametrize(("kind", "name", "resource"), RESOURCES)
def test_a_resource_is_one_that_databricks_takes(
    kind: str, name: str, resource: dict[str, Any]
) -> None:
    assert CLASSES[kind].from_dict(deepcopy(resource)).as_dict() == resource, name


@pytest.mark.parametrize(
    "misspelt",
    [
        {"max_concurent_runs": 1},
        {"continuous": {"pause_staus": "PAUSED"}},
        {"continuous": {"pause_status": "STOPPED"}},
        {"max_concurrent_runs": "one"},
    ],
)
def test_the_classes_refuse_what_is_misspelt(misspelt: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"pause_staus|max_concurent|STOPPED|one"):
        Job.from_dict(JOBS["coordinator"] | misspelt)


def test_every_reference_is_to_something() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in BUNDLE.rglob("*.yml")}
    used = {name for text in texts.values() for name in ANY_REFERENCE.findall(text)}
    variables = {f"var.{name}" for name in bundle()["variables"]}

    assert used == variables | KNOWN


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_runs_alone_on_a_cluster_of_its_own_where_it_can_run(name: str) -> None:
    job = JOBS[name]
    [[cluster], [task]] = job["job_clusters"], job["tasks"]

    assert job["max_concurrent_runs"] == 1
    assert cluster["new_cluster"]["data_security_mode"] == "SINGLE_USER"
    assert "autoscale" not in cluster["new_cluster"]
    # Databricks Runtime 17 has Spark 4.0, as the version that is tested.
    assert cluster["new_cluster"]["spark_version"].startswith("17.")
    assert "4.0" in LINES
    assert task["job_cluster_key"] == cluster["job_cluster_key"]
    assert job["email_notifications"]["on_failure"] == ["on-call@example.com"]


@pytest.mark.parametrize("name", sorted(JOBS))
def test_a_job_calls_a_command_with_settings_that_there_are(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUP_COORDINATOR_SASL_PASSWORD", "p")
    config = tmp_path / "coordinator.toml"
    config.write_text((BUNDLE / "coordinator.toml").read_text())
    [task] = JOBS[name]["tasks"]
    called, *options = task["python_wheel_task"]["parameters"]
    given = [
        option.replace("${workspace.file_path}", str(tmp_path)).replace(
            "${resources.schemas.tables.name}", "group_coordinator"
        )
        for option in options
    ]

    parsed = commands.commands[called].make_context(called, given).params
    job = settings.load(parsed["config"], parsed["overrides"]).job

    assert task["python_wheel_task"]["entry_point"] == "group-coordinator-job"
    assert job.tables_root == "main.group_coordinator"
    assert job.checkpoint_location == "dbfs:/Volumes/main/group_coordinator/checkpoint/state"
    assert job.security.sasl_username == "group-coordinator"


def test_the_password_comes_from_a_secret_scope() -> None:
    variables = bundle()["variables"]["cluster"]["default"]["spark_env_vars"]

    assert variables == {
        "GROUP_COORDINATOR_SASL_PASSWORD": "{{secrets/${var.secret_scope}/kafka-password}}"
    }
