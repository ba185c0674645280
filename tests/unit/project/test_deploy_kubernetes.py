"""The manifests, by the schemas of Kubernetes and of Kubeflow's Spark operator, and by what the job makes of them."""

from __future__ import annotations

import os
import shutil
import subprocess
import time
import tomllib
from copy import deepcopy
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from javaproperties import loads
from kubeflow_spark_api.models import SparkV1beta2SparkApplication

from group_coordinator import settings
from group_coordinator.cli.submitted import run
from group_coordinator.job import stop_signals

FOLDER = Path(__file__).parents[3] / "deploy" / "kubernetes"
NEWEST = kubernetes_validate.latest_version()
OLDEST = "1.31"

Manifest = dict[str, Any]


def manifests(file: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def by_kind(kind: str) -> Manifest:
    [found] = [each for each in ALL if each["kind"] == kind]
    return found


ALL = [each for file in sorted(FOLDER.glob("*.yaml")) for each in manifests(file)]
[APPLICATION] = manifests(FOLDER / "operator" / "spark-application.yaml")
SETTINGS = by_kind("ConfigMap")["data"]
DRIVER = by_kind("Deployment")["spec"]["template"]["spec"]
SCRIPT = "/opt/group-coordinator/jobs/run_coordinator.py"


def named(manifest: Manifest) -> str:
    return f"{manifest['kind']}-{manifest['metadata'].get('name', 'executor')}"


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("manifest", [*ALL, yaml.safe_load(SETTINGS["executor.yaml"])], ids=named)
def test_a_manifest_is_one_that_kubernetes_takes(manifest: Manifest, version: str) -> None:
    kubernetes_validate.validate(manifest, version, strict=True)


def test_the_schemas_refuse_what_is_misspelt() -> None:
    wrong = deepcopy(by_kind("Deployment"))
    wrong["spec"]["template"]["spec"]["terminationGracePeriodSecond"] = 660

    with pytest.raises(kubernetes_validate.ValidationError, match="terminationGracePeriodSecond"):
        kubernetes_validate.validate(wrong, NEWEST, strict=True)


def test_the_application_is_one_that_the_operator_takes() -> None:
    """Its classes leave out what they do not know."""
    assert taken(APPLICATION) == APPLICATION

    wrong = deepcopy(APPLICATION)
    wrong["spec"]["driver"]["memoryOverHead"] = "1g"
    assert taken(wrong) == APPLICATION


def taken(manifest: Manifest) -> Manifest:
    application = SparkV1beta2SparkApplication.from_dict(deepcopy(manifest))
    assert application is not None
    return application.to_dict()


def test_the_old_driver_has_the_time_to_end_its_batch_before_the_new_one_starts() -> None:
    deployment = by_kind("Deployment")["spec"]
    longest_stop_s = stop_signals._LONGEST_STOP_S  # noqa: SLF001

    assert deployment["replicas"] == 1
    assert deployment["strategy"] == {"type": "Recreate"}
    assert DRIVER["terminationGracePeriodSeconds"] > longest_stop_s
    assert APPLICATION["spec"]["driver"]["terminationGracePeriodSeconds"] > longest_stop_s


def test_the_settings_are_ours(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROUP_COORDINATOR_SASL_PASSWORD", "p")
    (tmp_path / "ca.pem").touch()
    text = SETTINGS["coordinator.toml"].replace("/etc/kafka-certificates", str(tmp_path))
    mine = tmp_path / "coordinator.toml"
    mine.write_text(text)

    job = settings.load(mine).job

    assert tomllib.loads(text)["shuffle"]["partitions"] == job.shuffle_partitions
    spark = loads(SETTINGS["spark.conf"])
    cores = int(spark["spark.executor.instances"]) * int(spark["spark.executor.cores"])
    assert cores == job.shuffle_partitions
    executor = APPLICATION["spec"]["executor"]
    assert executor["instances"] * executor["cores"] == job.shuffle_partitions


@pytest.mark.parametrize(
    "arguments",
    [DRIVER["containers"][0]["args"], [SCRIPT, *APPLICATION["spec"]["arguments"]]],
    ids=["Deployment", "SparkApplication"],
)
def test_the_job_is_called_with_options_that_it_has(arguments: list[str], tmp_path: Path) -> None:
    given = arguments[arguments.index(SCRIPT) + 1 :]
    config = tmp_path / "coordinator.toml"
    config.touch()
    here = [each.replace("/etc/group-coordinator", str(tmp_path)) for each in given]

    assert run.make_context("run", here).params["config"] == config


def test_executors_find_the_driver_before_it_is_ready() -> None:
    service, spark = by_kind("Service"), loads(SETTINGS["spark.conf"])
    host = f"{service['metadata']['name']}.{spark['spark.kubernetes.namespace']}.svc"

    assert service["spec"]["publishNotReadyAddresses"] is True
    assert spark["spark.driver.host"] == host
    ports = {each["name"]: str(each["port"]) for each in service["spec"]["ports"]}
    assert ports["driver"] == spark["spark.driver.port"]
    assert ports["blocks"] == spark["spark.driver.blockManager.port"]
    labels = by_kind("Deployment")["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()


@pytest.mark.parametrize(("age_s", "status"), [(None, 1), (0, 0), (100, 0), (200, 1)])
def test_a_driver_is_ready_whose_last_batch_is_no_older_than_two_minutes(
    tmp_path: Path, age_s: int | None, status: int
) -> None:
    [driver] = DRIVER["containers"]
    if age_s is not None:
        progress, then_s = tmp_path / "progress.json", time.time() - age_s
        progress.touch()
        os.utime(progress, (then_s, then_s))
    command = [each.replace("/scratch", str(tmp_path)) for each in PROBE]

    done = subprocess.run(command, check=False, capture_output=True)

    assert done.returncode == status
    assert "--progress=/scratch/progress.json" in driver["args"]
    assert "livenessProbe" not in driver


PROBE: list[str] = DRIVER["containers"][0]["readinessProbe"]["exec"]["command"]


def test_what_is_mounted_is_there() -> None:
    for spec in (DRIVER, yaml.safe_load(SETTINGS["executor.yaml"])["spec"]):
        volumes = {each["name"] for each in spec["volumes"]}
        [container] = spec["containers"]
        assert {each["name"] for each in container["volumeMounts"]} == volumes
    assert shutil.which("sh")
