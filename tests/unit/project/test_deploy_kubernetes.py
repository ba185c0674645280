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
from group_coordinator.driver import session

FOLDER = Path(__file__).parents[3] / "deploy" / "kubernetes"
NEWEST = kubernetes_validate.latest_version()
OLDEST = "1.31"

Manifest = dict[str, Any]
Pod = tuple[str, dict[str, str]]
"""A namespace and labels."""


def manifests(file: Path) -> list[Manifest]:
    return list(yaml.safe_load_all(file.read_text(encoding="utf-8")))


def by_kind(kind: str) -> Manifest:
    [found] = [each for each in ALL if each["kind"] == kind]
    return found


ALL = [each for file in sorted(FOLDER.glob("*.yaml")) for each in manifests(file)]
POLICIES = [each["spec"] for each in ALL if each["kind"] == "NetworkPolicy"]
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
    longest_stop_s = session._LONGEST_STOP_S  # noqa: SLF001

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

    done = subprocess.run(command, check=False, capture_output=True)  # noqa: S603 - a fixed program

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


def ours(component: str) -> Pod:
    """A pod as the manifests make it."""
    made = {
        "driver": by_kind("Deployment")["spec"]["template"]["metadata"]["labels"],
        "executor": yaml.safe_load(SETTINGS["executor.yaml"])["metadata"]["labels"],
        "create-tables": by_kind("Job")["spec"]["template"]["metadata"]["labels"],
        "operator's driver": APPLICATION["spec"]["driver"]["labels"],
        "operator's executor": APPLICATION["spec"]["executor"]["labels"],
        "stranger in the namespace": {"app": "stranger"},
    }
    return NAMESPACE, made[component]


NAMESPACE = loads(SETTINGS["spark.conf"])["spark.kubernetes.namespace"]
DNS: Pod = ("kube-system", {"k8s-app": "kube-dns"})
BROKER: Pod = ("kafka", {"app": "kafka"})
ELSEWHERE: Pod = ("elsewhere", {"app.kubernetes.io/name": "group-coordinator"})


@pytest.mark.parametrize(
    ("source", "target", "ports"),
    [
        ("executor", "driver", {7078, 7079}),
        ("driver", "executor", {7079}),
        ("executor", "executor", {7079}),
        ("operator's executor", "operator's driver", {7078, 7079}),
        ("operator's driver", "operator's executor", {7079}),
        ("create-tables", "driver", set()),
        ("stranger in the namespace", "driver", set()),
        ("stranger in the namespace", "executor", set()),
        (ELSEWHERE, "driver", set()),
        (ELSEWHERE, "executor", set()),
        (ELSEWHERE, "create-tables", set()),
        ("driver", DNS, {53, 443, 6443}),
        ("executor", DNS, {53}),
        ("driver", BROKER, {443, 6443, 9093}),
        ("executor", BROKER, {9093}),
        ("create-tables", BROKER, {9093}),
        ("stranger in the namespace", BROKER, set()),
        ("executor", ELSEWHERE, set()),
    ],
)
def test_a_pod_reaches_these_ports_only(
    source: str | Pod, target: str | Pod, ports: set[int]
) -> None:
    """Of all that the programs know; Kubernetes itself is at 443 or 6443."""
    known = {22, 53, 443, 4040, 6443, 7077, 7078, 7079, 9092, 9093, 9404}
    source = ours(source) if isinstance(source, str) else source
    target = ours(target) if isinstance(target, str) else target

    reached = {
        port
        for port in known
        if allows("Egress", source, target, port) and allows("Ingress", target, source, port)
    }

    assert reached == ports


def allows(direction: str, pod: Pod, peer: Pod, port: int) -> bool:
    """What the policies of our namespace say of a connection of this pod, as Kubernetes reads them."""
    namespace, labels = pod
    selecting = [
        policy
        for policy in POLICIES
        if namespace == NAMESPACE
        and direction in policy["policyTypes"]
        and selects(policy["podSelector"], labels)
    ]
    rules = [rule for policy in selecting for rule in policy.get(direction.lower(), [])]
    return not selecting or any(
        permits(rule, rule.get("to", rule.get("from")), peer, port) for rule in rules
    )


def permits(rule: Manifest, peers: list[Manifest] | None, peer: Pod, port: int) -> bool:
    return port in {each["port"] for each in rule["ports"]} and (
        peers is None or any(is_meant(each, *peer) for each in peers)
    )


def is_meant(peer: Manifest, namespace: str, labels: dict[str, str]) -> bool:
    here = {"matchLabels": {"kubernetes.io/metadata.name": NAMESPACE}}
    name = {"kubernetes.io/metadata.name": namespace}
    return selects(peer.get("namespaceSelector", here), name) and selects(
        peer.get("podSelector", {}), labels
    )


def selects(selector: Manifest, labels: dict[str, str]) -> bool:
    return selector.get("matchLabels", {}).items() <= labels.items()


def test_the_policies_know_the_ports_of_the_settings() -> None:
    spark = loads(SETTINGS["spark.conf"])
    job = tomllib.loads(SETTINGS["coordinator.toml"])
    host, _, port = job["bootstrap"]["servers"].rpartition(":")

    assert (spark["spark.driver.port"], spark["spark.blockManager.port"]) == ("7078", "7079")
    assert APPLICATION["spec"]["sparkConf"]["spark.blockManager.port"] == "7079"
    assert (host.split(".")[1], port) == ("kafka", "9093")
