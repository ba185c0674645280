"""The chart of deploy/helm, rendered by Helm itself; the rules of its manifests are in test_deploy_kubernetes.py."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import kubernetes_validate
import pytest
import yaml
from javaproperties import loads

from group_coordinator import settings
from group_coordinator.cli.gateway import command as gateway
from group_coordinator.cli.submitted import mirror
from tests.support.chart import (
    CHART,
    PAGE,
    PLAIN,
    RELEASE,
    TEMPLATES,
    helm,
    objects,
    plain_manifest,
    rendered,
    with_values,
)
from tests.support.go_programs import GoMissingError, go_program

# Go builds Helm for many minutes, if it was never built.
pytestmark = pytest.mark.nightly
OLDEST, NEWEST = "1.31", kubernetes_validate.latest_version()
MIRROR: dict[str, Any] = {
    "coordinator": {"enabled": False},
    "mirror": {"enabled": True, "cluster": "eu-1"},
}
GATEWAY: dict[str, Any] = {
    "gateway": {"enabled": True, "certificateSecret": "gateway-certificate", "nodes": [1, 2, 3]}
}
EVERYTHING: dict[str, Any] = {
    **GATEWAY,
    "mirror": {"enabled": True, "cluster": "eu-1", "source": "admin", "executors": 3},
    "metrics": {"enabled": True, "serviceMonitor": True, "accessSecret": "metrics-access"},
    "podDisruptionBudget": {"enabled": True},
    "image": {"tag": "0.4.1", "pullSecrets": ["registry"]},
    "serviceAccountAnnotations": {"example.com/role": "tables"},
    "settings": {"offsets.retention.minutes": 1440, "metrics.lag.granularity": "group"},
}
STORE: dict[str, Any] = {
    **MIRROR,
    "kafka": {"bootstrapServers": "kafka-1.example.com:9093", "certificatesSecret": ""},
    "storage": {
        "volume": False,
        "tablesRoot": "s3a://bucket/tables",
        "checkpointLocation": "s3a://bucket/checkpoint",
        "secret": "store-login",
    },
    "sparkConf": {"spark.hadoop.fs.s3a.endpoint.region": "eu-central-1"},
    "networkPolicy": {
        "kafkaNamespace": "",
        "kafkaCidrs": ["10.1.0.0/16"],
        "otherCidrs": ["10.2.0.0/16"],
    },
}
CASES = {
    "default": {},
    "mirror": MIRROR,
    "gateway": GATEWAY,
    "everything": EVERYTHING,
    "store": STORE,
}


@pytest.fixture(scope="module", autouse=True)
def _helm() -> None:
    try:
        go_program("helm")
    except GoMissingError as missing:
        pytest.skip(str(missing))


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_lint_has_no_complaint(values: dict[str, Any]) -> None:
    done = helm("lint", "--strict", str(CHART), "--namespace", RELEASE, values=values)

    assert (done.returncode, "1 chart(s) linted, 0 chart(s) failed" in done.stdout) == (0, True), (
        done.stdout + done.stderr
    )


@pytest.mark.parametrize("version", [OLDEST, NEWEST])
@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_kubernetes_accepts_each_object(values: dict[str, Any], version: str) -> None:
    found = objects(values)

    for each in found:
        if each["kind"] != "ServiceMonitor":
            kubernetes_validate.validate(each, version, strict=True)
    for each in by_kind(found, "ConfigMap").values():
        if executor := each["data"].get("executor.yaml"):
            kubernetes_validate.validate(yaml.safe_load(executor), version, strict=True)
    names = [(each["kind"], each["metadata"]["name"]) for each in found]
    assert len(set(names)) == len(names)


def by_kind(found: list[dict[str, Any]], kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in found if each["kind"] == kind}


@pytest.mark.parametrize("template", TEMPLATES)
def test_the_manifests_without_helm_are_its_output(template: str) -> None:
    written = (PLAIN / f"{template}.yaml").read_text(encoding="utf-8")

    assert written == plain_manifest(template), "run python -m tests.support.chart --write"


def test_the_chart_with_default_values_has_no_other_objects() -> None:
    written = [
        each
        for template in TEMPLATES
        for each in yaml.safe_load_all((PLAIN / f"{template}.yaml").read_text(encoding="utf-8"))
    ]
    default = objects({"createTables": {"hook": False}})

    assert sorted(default, key=str) == sorted(written, key=str)


def test_the_page_has_the_values_of_the_schema() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page == with_values(page), "run python -m tests.support.chart --write"


def test_each_value_has_a_type_a_meaning_and_a_default() -> None:
    schema = json.loads((CHART / "values.schema.json").read_text(encoding="utf-8"))
    defaults = yaml.safe_load((CHART / "values.yaml").read_text(encoding="utf-8"))

    assert named(schema) - {"global"} == paths(defaults)


def named(schema: dict[str, Any], before: str = "") -> set[str]:
    """Paths of all values, each with a meaning."""
    found = set()
    for name, part in schema["properties"].items():
        assert part["type"]
        assert part["description"]
        inner = named(part, f"{before}{name}.") if "properties" in part else {f"{before}{name}"}
        found |= inner
    return found


def paths(values: dict[str, Any], before: str = "") -> set[str]:
    found = set()
    for name, value in values.items():
        inner = isinstance(value, dict) and value
        found |= paths(value, f"{before}{name}.") if inner else {f"{before}{name}"}
    return found


@pytest.mark.parametrize(
    ("values", "error"),
    [
        ({"coordinater": {}}, "coordinater"),
        ({"coordinator": {"executors": 0}}, "/coordinator/executors"),
        ({"mirror": {"enabled": True}}, "/mirror/cluster"),
        ({"gateway": {"enabled": True}}, "/gateway"),
        ({"storage": {"volume": False}}, "/storage/tablesRoot"),
        ({"metrics": {"serviceMonitor": True}}, "/metrics/enabled"),
        ({"networkPolicy": {"kafkaNamespace": ""}}, "/networkPolicy/kafkaCidrs"),
    ],
)
def test_wrong_values_are_an_error_that_names_them(values: dict[str, Any], error: str) -> None:
    with pytest.raises(ValueError, match=error):
        rendered(values)


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_the_settings_are_settings_of_the_program(
    values: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GROUP_COORDINATOR_SASL_PASSWORD", "p")
    (tmp_path / "ca.pem").touch()
    for name, each in by_kind(objects(values), "ConfigMap").items():
        text = each["data"]["coordinator.toml"]
        file = tmp_path / f"{name}.toml"
        file.write_text(text.replace("/etc/kafka-certificates", str(tmp_path)))

        loaded = settings.load(file)

        of_values = values.get("settings", {})
        minutes = of_values.get("offsets.retention.minutes", 10_080)
        assert loaded.coordinator.offsets_retention_minutes == minutes
        assert loaded.job.shuffle_partitions == (2 if name == RELEASE else 0)


def test_programs_are_called_with_options_that_they_have(tmp_path: Path) -> None:
    deployments = by_kind(objects(EVERYTHING), "Deployment")
    (tmp_path / "coordinator.toml").touch()

    def arguments(name: str, after: str) -> list[str]:
        [container] = deployments[name]["spec"]["template"]["spec"]["containers"]
        given = container["args"][container["args"].index(after) + 1 :]
        return [each.replace("/etc/group-coordinator", str(tmp_path)) for each in given]

    script = "/opt/group-coordinator/jobs/mirror_offsets_topic.py"
    mirrored = mirror.make_context("mirror", arguments("group-coordinator-mirror", script))
    served = gateway.make_context("gateway", arguments("group-coordinator-gateway", "gateway"))

    assert {"cluster": "eu-1", "source": "admin"}.items() <= mirrored.params.items()
    assert served.params["advertise"] == "group-coordinator-gateway.group-coordinator.svc"


def test_what_is_mounted_is_there() -> None:
    for values in CASES.values():
        for each in objects(values):
            if each["kind"] in {"Deployment", "Job"}:
                pod = each["spec"]["template"]["spec"]
                volumes = {volume["name"] for volume in pod["volumes"]}
                for container in [*pod["containers"], *pod.get("initContainers", [])]:
                    assert {mount["name"] for mount in container["volumeMounts"]} <= volumes


def test_each_program_has_a_driver_that_its_own_executors_find() -> None:
    found = objects(EVERYTHING)
    services, maps = by_kind(found, "Service"), by_kind(found, "ConfigMap")
    for name, prefix in ((RELEASE, ""), (f"{RELEASE}-mirror", "mirror-")):
        spark = loads(maps[name]["data"]["spark.conf"])
        executor = yaml.safe_load(maps[name]["data"]["executor.yaml"])["metadata"]["labels"]
        selected = services[f"{name}-driver"]["spec"]["selector"]

        assert spark["spark.driver.host"] == f"{name}-driver.{RELEASE}.svc"
        assert spark["spark.kubernetes.container.image"].endswith(":0.4.1")
        assert selected["app.kubernetes.io/component"] == f"{prefix}driver"
        assert executor["app.kubernetes.io/component"] == f"{prefix}executor"


def test_a_node_has_its_port_everywhere() -> None:
    """Node n is at the gateway's port + 1 + n."""
    found = objects(GATEWAY)
    [container] = by_kind(found, "Deployment")["group-coordinator-gateway"]["spec"]["template"][
        "spec"
    ]["containers"]
    policy = by_kind(found, "NetworkPolicy")["gateway"]["spec"]["ingress"]
    service = by_kind(found, "Service")["group-coordinator-gateway"]["spec"]["ports"]

    ports = [19092, 19094, 19095, 19096]
    assert [each["port"] for each in service] == ports
    assert [each["containerPort"] for each in container["ports"]] == [*ports, 19091]
    assert [each["port"] for each in policy[0]["ports"]] == ports


def test_prometheus_finds_all_ports_under_the_job_of_the_alerts() -> None:
    found = objects(EVERYTHING)
    ports = {
        (
            service["metadata"]["labels"][monitor["spec"]["jobLabel"]],
            port["port"],
            endpoint["scheme"],
        )
        for monitor in by_kind(found, "ServiceMonitor").values()
        for service in by_kind(found, "Service").values()
        if monitor["spec"]["selector"]["matchLabels"].items()
        <= service["metadata"].get("labels", {}).items()
        for endpoint in ({"scheme": "http"} | each for each in monitor["spec"]["endpoints"])
        for port in service["spec"]["ports"]
        if port["name"] == endpoint["port"]
    }

    assert ports == {
        ("group-coordinator", 9404, "https"),
        ("group-coordinator-gateway", 19091, "http"),
    }
    assert {each["apiVersion"] for each in by_kind(found, "ServiceMonitor").values()} == {
        "monitoring.coreos.com/v1"
    }


def test_prometheus_logs_in_where_the_drivers_want_it() -> None:
    found = objects(EVERYTHING)
    access = "metrics-access"
    [endpoint] = by_kind(found, "ServiceMonitor")[RELEASE]["spec"]["endpoints"]
    assert endpoint["basicAuth"]["password"] == {"name": access, "key": "password"}
    assert endpoint["tlsConfig"]["ca"] == {"secret": {"name": access, "key": "ca.pem"}}
    for name in (RELEASE, f"{RELEASE}-mirror"):
        pod = by_kind(found, "Deployment")[name]["spec"]["template"]["spec"]
        [container] = pod["containers"]
        [mount] = [each for each in container["volumeMounts"] if each["name"] == access]
        [volume] = [each for each in pod["volumes"] if each["name"] == access]
        assert volume["secret"] == {"secretName": access}
        assert {f"--set=metrics.password.file={mount['mountPath']}/login"} <= {*container["args"]}
    assert container["readinessProbe"]["httpGet"]["scheme"] == "HTTPS"


def test_a_drain_takes_one_executor_and_one_gateway_at_a_time() -> None:
    budgets = by_kind(objects(EVERYTHING), "PodDisruptionBudget")

    assert {
        name: {key: value for key, value in each["spec"].items() if key != "selector"}
        for name, each in budgets.items()
    } == {
        "group-coordinator-executors": {"minAvailable": 1},
        "group-coordinator-mirror-executors": {"minAvailable": 2},
        "group-coordinator-gateway": {"maxUnavailable": 1},
    }


def test_a_store_takes_the_place_of_the_volume() -> None:
    found = objects(STORE)
    settings_map = by_kind(found, "ConfigMap")["group-coordinator-mirror"]["data"]
    executor = yaml.safe_load(settings_map["executor.yaml"])["spec"]
    policies = by_kind(found, "NetworkPolicy")

    assert by_kind(found, "PersistentVolumeClaim") == {}
    assert [volume["name"] for volume in executor["volumes"]] == ["tmp"]
    assert executor["containers"][0]["envFrom"] == [{"secretRef": {"name": "store-login"}}]
    assert (
        loads(settings_map["spark.conf"])["spark.hadoop.fs.s3a.endpoint.region"] == "eu-central-1"
    )
    to = {name: policies[name]["spec"]["egress"][0]["to"] for name in ("kafka", "others")}
    assert to == {
        "kafka": [{"ipBlock": {"cidr": "10.1.0.0/16"}}],
        "others": [{"ipBlock": {"cidr": "10.2.0.0/16"}}],
    }


def test_no_password_is_in_the_chart() -> None:
    """Secrets are existing ones."""
    for values in CASES.values():
        assert by_kind(objects(values), "Secret") == {}
