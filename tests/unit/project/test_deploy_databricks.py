"""The bundle, read by the classes that Databricks publishes for its resources: they refuse keys that they do not have."""

from __future__ import annotations

import re
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from databricks.bundles.alerts import Alert
from databricks.bundles.dashboards import Dashboard
from databricks.bundles.genie_spaces import GenieSpace
from databricks.bundles.jobs import Job
from databricks.bundles.schemas import Schema
from databricks.bundles.volumes import Volume

from group_coordinator import settings
from group_coordinator.cli.submitted import jobs as commands
from group_coordinator.streaming.spark_lines import LINES
from tests.support.databricks_bundle import BUNDLE, bundle, of_kind, resources

CLASSES: dict[str, Any] = {
    "alerts": Alert,
    "dashboards": Dashboard,
    "genie_spaces": GenieSpace,
    "jobs": Job,
    "schemas": Schema,
    "volumes": Volume,
}
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


RESOURCES = [pytest.param(*each, id=f"{each[0]}.{each[1]}") for each in resources()]
JOBS = of_kind("jobs")


@pytest.mark.parametrize(("kind", "name", "resource"), RESOURCES)
def test_a_resource_is_one_that_databricks_takes(
    kind: str, name: str, resource: dict[str, Any]
) -> None:
    assert CLASSES[kind].from_dict(deepcopy(resource)).as_dict() == resource, name


def test_a_dashboard_and_a_genie_space_have_no_other_keys() -> None:
    [dashboard], [space] = of_kind("dashboards").values(), of_kind("genie_spaces").values()

    with pytest.raises(ValueError, match="dataset_catlog"):
        Dashboard.from_dict(dashboard | {"dataset_catlog": "main"})
    with pytest.raises(ValueError, match="serialised_space"):
        GenieSpace.from_dict(space | {"serialised_space": {}})


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
    found = of_kind("jobs", runtime=runtime).values()

    clusters = [
        cluster for job in found for cluster in Job.from_dict(job).as_dict()["job_clusters"]
    ]
    assert [each["new_cluster"]["spark_version"] for each in clusters] == [runtime] * 7


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


@pytest.mark.parametrize("source", ["topic", "admin"])
def test_a_mirror_has_a_name_and_a_source(source: str) -> None:
    [task] = of_kind("jobs", mirror_source=source)["mirror"]["tasks"]
    called, *options = task["python_wheel_task"]["parameters"]

    parsed = commands.commands[called].make_context(called, options, resilient_parsing=True).params

    assert (parsed["cluster"], parsed["source"], parsed["with_compaction"]) == (
        "eu-1",
        source,
        True,
    )


def test_the_password_comes_from_a_secret_scope() -> None:
    variables = bundle()["variables"]["cluster"]["default"]["spark_env_vars"]

    assert variables == {
        "GROUP_COORDINATOR_SASL_PASSWORD": "{{secrets/${var.secret_scope}/kafka-password}}"
    }
