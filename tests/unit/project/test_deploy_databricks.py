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
RUNTIMES = {"18.x-scala2.13": "4.1", "17.3.x-scala2.13": "4.0"}
"""What the variable `runtime` may be -> the Spark that it has."""


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
                yield kind, name, with_values(resource, variables)


def with_values(value: Any, variables: dict[str, Any]) -> Any:
    if isinstance(value, dict):
        return {key: with_values(each, variables) for key, each in value.items()}
    if isinstance(value, list):
        return [with_values(each, variables) for each in value]
    if not isinstance(value, str):
        return value
    alone = VARIABLE.fullmatch(value)
    if alone:
        return with_values(variables[alone[1]], variables)
    return VARIABLE.sub(lambda found: str(variables[found[1]]), value)


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
    assert cluster["new_cluster"]["spark_version"] == "18.x-scala2.13"
    assert task["job_cluster_key"] == cluster["job_cluster_key"]
    assert job["email_notifications"]["on_failure"] == ["on-call@example.com"]


@pytest.mark.parametrize(("runtime", "spark"), RUNTIMES.items())
def test_each_runtime_has_a_spark_that_is_tested_and_is_described(runtime: str, spark: str) -> None:
    release = runtime.partition("-")[0].removesuffix(".x")
    said = (
        bundle()["variables"]["runtime"]["description"],
        (BUNDLE / "README.md").read_text(encoding="utf-8"),
    )

    assert spark in LINES
    assert f"`{runtime}`, Spark {spark}" in said[1]
    assert all(f"{release} LTS" in text for text in said)


@pytest.mark.parametrize("runtime", RUNTIMES)
def test_every_cluster_has_the_runtime_that_is_chosen(runtime: str) -> None:
    found = [each for kind, _, each in resources(runtime=runtime) if kind == "jobs"]

    clusters = [
        cluster for job in found for cluster in Job.from_dict(job).as_dict()["job_clusters"]
    ]
    assert [each["new_cluster"]["spark_version"] for each in clusters] == [runtime] * 6


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
