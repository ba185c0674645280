"""The image and the scripts of deploy/: linted, and called with programs that only say how they were called."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from javaproperties import loads

from group_coordinator import __version__
from group_coordinator.streaming import session
from group_coordinator.streaming.spark_lines import LINES
from tests.support.go_programs import GoMissingError, go_program

ROOT = Path(__file__).parents[3]
DEPLOY = ROOT / "deploy"
DOCKERFILE = DEPLOY / "docker" / "Dockerfile"
SCRIPTS = ("local", "docker/entrypoint", "release/build", "release/cut", "yarn/pack", "yarn/submit")
SAYS_ALL = '#!/usr/bin/env bash\nprintf "%s\\n" "${0##*/}" "$@"\n'


def run(*command: str | Path, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(  # noqa: S603 - a fixed program
        command, env=environment or None, capture_output=True, text=True, check=False
    )


def program(folder: Path, name: str, text: str = SAYS_ALL) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    (folder / name).chmod(0o755)


def test_the_image_is_linted(tmp_path: Path) -> None:
    done = run("hadolint", DOCKERFILE)
    assert (done.returncode, done.stdout) == (0, "")

    (tmp_path / "Dockerfile").write_text("FROM python\nRUN cd /tmp && apt-get install tini\n")
    assert "DL3006" in run("hadolint", tmp_path / "Dockerfile").stdout


@pytest.mark.parametrize("script", SCRIPTS)
def test_a_script_is_linted(script: str) -> None:
    done = run("shellcheck", DEPLOY / script)

    assert (done.returncode, done.stdout) == (0, "")


def test_every_script_is_in_the_list() -> None:
    executable = (path for path in DEPLOY.rglob("*") if path.is_file() and path.stat().st_mode & 1)

    assert sorted(str(path.relative_to(DEPLOY)) for path in executable) == sorted(SCRIPTS)


def test_the_image_names_the_version_of_python_once() -> None:
    text = DOCKERFILE.read_text()
    [base] = re.findall(r"^ARG BASE=python:(3\.\d+)-", text, re.MULTILINE)

    assert re.findall(r"python(3\.\d+)/", text) == []
    assert base in ("3.11", "3.12", "3.13")


def test_what_the_image_copies_is_not_ignored() -> None:
    sources = re.findall(
        r"^COPY (?!--from)(?:--\S+ )?(.*) \S+$", DOCKERFILE.read_text(), re.MULTILINE
    )
    copied = [source for line in sources for source in line.split()]
    kept = re.findall(
        r"^!(.*)$", (DEPLOY / "docker/Dockerfile.dockerignore").read_text(), re.MULTILINE
    )

    assert copied
    assert all((ROOT / source).exists() for source in copied)
    assert all(source.startswith(tuple(kept)) for source in copied)


EXECUTOR = {
    "SPARK_JAVA_OPT_10": "-Dlast=two words",
    "SPARK_JAVA_OPT_2": "-Dsecond=2",
    "SPARK_EXECUTOR_MEMORY": "2g",
    "SPARK_DRIVER_URL": "spark://CoarseGrainedScheduler@driver:7078",
    "SPARK_EXECUTOR_ID": "3",
    "SPARK_EXECUTOR_CORES": "1",
    "SPARK_APPLICATION_ID": "spark-1",
    "SPARK_EXECUTOR_POD_IP": "10.0.0.9",
    "SPARK_RESOURCE_PROFILE_ID": "0",
    "SPARK_EXECUTOR_POD_NAME": "executor-3",
    "SPARK_HOME": "/opt/spark-home",
}


def test_the_image_starts_what_spark_on_kubernetes_asks_for(tmp_path: Path) -> None:
    for name in ("java", "spark-submit"):
        program(tmp_path, name)
    entrypoint, path = DEPLOY / "docker" / "entrypoint", f"{tmp_path}:/usr/bin:/bin"

    executor = run(entrypoint, "executor", PATH=path, **EXECUTOR).stdout.splitlines()
    driver = run(
        entrypoint, "driver", "local:///job.py", PATH=path, SPARK_DRIVER_BIND_ADDRESS="10.0.0.8"
    ).stdout.splitlines()

    assert executor == [
        *("java", "-Dsecond=2", "-Dlast=two words", "-Xms2g", "-Xmx2g"),
        *("-cp", "/opt/spark/conf:/opt/spark-home/jars/*"),
        "org.apache.spark.scheduler.cluster.k8s.KubernetesExecutorBackend",
        *("--driver-url", "spark://CoarseGrainedScheduler@driver:7078", "--executor-id", "3"),
        *("--cores", "1", "--app-id", "spark-1", "--hostname", "10.0.0.9"),
        *("--resourceProfileId", "0", "--podName", "executor-3"),
    ]
    assert driver == [
        *("spark-submit", "--conf", "spark.driver.bindAddress=10.0.0.8"),
        *("--deploy-mode", "client", "local:///job.py"),
    ]
    assert run(entrypoint, "spark-submit", "--version", PATH=path).stdout == (
        "spark-submit\n--version\n"
    )


def given_to_yarn(environment: Path, **variables: str) -> list[str]:
    """How deploy/yarn/submit calls spark-submit."""
    program(environment / "bin", "spark-submit")
    program(environment / "bin", "python", "#!/bin/sh\necho /environment/pyspark\n")
    return run(
        *(DEPLOY / "yarn" / "submit", environment, "hdfs:///gc.tar.gz", "run_coordinator.py"),
        *("--config", "my file.toml"),
        PATH="/usr/bin:/bin",
        SPARK_OPTIONS="--principal gc@EXAMPLE.COM --keytab gc.keytab",
        **variables,
    ).stdout.splitlines()


def test_yarn_gets_the_environment_and_the_job(tmp_path: Path) -> None:
    called = given_to_yarn(tmp_path)

    assert called[0] == "spark-submit"
    assert "--packages" not in called  # pack has put the jars into the environment
    assert called[called.index("--archives") + 1] == "hdfs:///gc.tar.gz#environment"
    assert called[called.index("--deploy-mode") + 1] == "client"
    assert f"spark.pyspark.driver.python={tmp_path}/bin/python" in called
    assert called[-7:] == [
        *("--principal", "gc@EXAMPLE.COM", "--keytab", "gc.keytab"),
        *("run_coordinator.py", "--config", "my file.toml"),
    ]


def test_a_driver_in_a_container_has_the_python_of_the_archive(tmp_path: Path) -> None:
    called = given_to_yarn(tmp_path, DEPLOY_MODE="cluster")

    assert called[called.index("--deploy-mode") + 1] == "cluster"
    assert [option for option in called if option.startswith("spark.pyspark")] == [
        "spark.pyspark.python=./environment/bin/python"
    ]
    assert "spark.yarn.appMasterEnv.BASH_ENV=./environment/bin/outlive_sigterm" in called


@pytest.mark.parametrize(
    "page",
    [
        path
        for folder in ("deploy", "jobs")
        for path in (ROOT / folder).rglob("*")
        if path.suffix in (".md", ".service") and "--packages" in path.read_text()
    ],
    ids=lambda page: str(page.relative_to(ROOT)),
)
def test_a_page_names_the_jars_that_are_tested(page: Path) -> None:
    text = page.read_text().replace("\\\n", "")
    # As a shell expands its variables.
    for name, value in re.findall(r"\b(sdk|version)=(\S+)", text):
        text = text.replace(f"${name}", value)
    found = re.findall(r"--packages (?!\")(\S+:\S+)", text)
    line = LINES["4.2"]

    assert set(found) == {",".join([line.packages, *(line.s3 if page.name == "stores.md" else ())])}


def test_every_manifest_names_the_same_image() -> None:
    texts = [path.read_text() for path in DEPLOY.rglob("*.yaml")]
    # The chart has name and tag apart.
    images = re.findall(r"registry\.example\.com/(\S+:\S+)", "\n".join(texts))
    chart = yaml.safe_load((DEPLOY / "helm" / "Chart.yaml").read_text())
    version = __version__.partition(".dev")[0]

    assert len(images) >= 4
    assert set(images) == {f"group-coordinator:{version}"}
    assert {chart["version"], chart["appVersion"]} == {version}


CLOSED = {
    "spark.authenticate": "true",
    "spark.network.crypto.enabled": "true",
    "spark.network.crypto.authEngineVersion": "2",
    "spark.network.crypto.saslFallback": "false",
    "spark.io.encryption.enabled": "true",
    "spark.ui.enabled": "false",
}


def of_kubernetes(file: str) -> list[dict[str, Any]]:
    return list(yaml.safe_load_all((DEPLOY / "kubernetes" / file).read_text()))


def options(words: str) -> dict[str, str]:
    return dict(re.findall(r"--conf[ =](\S+?)=(\S+)", words))


def settings_of_spark() -> dict[str, dict[str, str]]:
    """Where it is started -> what it is told."""
    [settings], [application] = (
        of_kubernetes("settings.yaml"),
        of_kubernetes("operator/spark-application.yaml"),
    )
    return {
        "this machine": session._ON_THIS_MACHINE,  # noqa: SLF001
        "this machine, spark-submit": loads((DEPLOY / "spark" / "spark-defaults.conf").read_text()),
        "standalone": loads((DEPLOY / "standalone" / "spark.conf").read_text()),
        "kubernetes": loads(settings["data"]["spark.conf"]),
        "kubernetes, operator": application["spec"]["sparkConf"],
        "kubernetes, tables": options((DEPLOY / "kubernetes/create-tables.yaml").read_text()),
        "yarn": options((DEPLOY / "yarn" / "submit").read_text()),
    }


@pytest.mark.parametrize("place", settings_of_spark())
def test_spark_listens_to_nobody_without_its_secret(place: str) -> None:
    told = settings_of_spark()[place]

    assert {key: told.get(key) for key in CLOSED} == CLOSED
    assert "spark.authenticate.secret" not in told


UNIT = DEPLOY / "standalone" / "group-coordinator.service"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd")
def test_the_unit_may_do_little() -> None:
    """By systemd's own judgement, in tenths: 10.0 is a service without any limit."""
    done = run(
        "systemd-analyze", "security", "--offline=true", "--no-pager", "--threshold=20", UNIT
    )

    assert done.returncode == 0, done.stdout


def test_the_unit_writes_to_its_folders_only_and_fetches_nothing() -> None:
    lines = UNIT.read_text().splitlines()

    assert [
        line for line in lines if line.startswith(("ReadWritePaths", "StateDirectory", "UMask"))
    ] == [
        "StateDirectory=group-coordinator",
        "StateDirectoryMode=0700",
        "ReadWritePaths=/srv/group-coordinator",
        "UMask=0077",
    ]
    assert "ProtectSystem=strict" in lines
    assert "--packages" not in UNIT.read_text()


PINNED = re.compile(r"[\w-]+/[\w-]+@[0-9a-f]{40}(  # v[\d.]+)")


@pytest.mark.parametrize(
    "workflow", sorted((ROOT / ".github/workflows").glob("*.yml")), ids=lambda file: file.name
)
def test_a_workflow_runs_actions_of_one_commit_with_no_right_to_write(workflow: Path) -> None:
    text = workflow.read_text()

    used = re.findall(r"uses: (.*)", text)
    assert used
    assert [action for action in used if not PINNED.fullmatch(action)] == []
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}


def test_an_auditor_of_workflows_finds_nothing() -> None:
    command = ["zizmor", "--offline", "--no-progress", "--color=never", ROOT / ".github/workflows"]
    audited = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - a fixed program
    assert (audited.returncode, audited.stdout.partition(".")[0]) == (0, "No findings to report")


@pytest.mark.nightly
def test_workflows_have_no_mistake_that_actionlint_knows() -> None:
    try:
        linted = run(
            go_program("actionlint"), "-no-color", *(ROOT / ".github/workflows").glob("*.yml")
        )
    except GoMissingError as missing:
        pytest.skip(str(missing))
    assert (linted.returncode, linted.stdout) == (0, "")
