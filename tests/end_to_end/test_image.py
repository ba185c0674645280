"""The image of deploy/docker: built by buildah on Debian's packages, run by podman without root on a read-only root."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from subprocess import PIPE, STDOUT

import pytest
from deltalake import DeltaTable
from kafka import KafkaAdminClient, KafkaConsumer, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from packaging.utils import canonicalize_name

from group_coordinator.clients.sql_tables import rows
from group_coordinator.local.broker import EmbeddedBroker
from tests.end_to_end.commits import Commits, logged
from tests.end_to_end.installation import Installation
from tests.faults.judgement import judged
from tests.support.job_process import ROOT
from tests.support.until import until

pytestmark = [pytest.mark.kafka, pytest.mark.nightly]

TOOLS = ("buildah", "debootstrap", "podman", "runc")
TAG, BASE = "localhost/group-coordinator-test", "localhost/group-coordinator-base"
PACKAGES = "ca-certificates,python-is-python3,python3,python3-venv"
AUTHORITIES = Path("/usr/local/share/ca-certificates")
PIP = Path("/etc/pip.conf")
COORDINATOR = 10_001
START_S, STOP_S = 300, 180
MORE = 60


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=False)  # noqa: S603 - fixed programs
    assert done.returncode == 0, f"{command}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    missing = [tool for tool in TOOLS if shutil.which(tool) is None]
    if missing or os.geteuid():
        pytest.skip(f"an image is built by root, with {', '.join(TOOLS)}")
    base = tmp_path_factory.mktemp("image") / "base"
    run("debootstrap", "--variant=minbase", f"--include={PACKAGES}", "bookworm", base)
    # As in the base image of a company: its own authorities, and its settings of pip.
    for file in AUTHORITIES.glob("*.crt"):
        shutil.copy(file, base / AUTHORITIES.relative_to("/"))
    if PIP.exists():
        shutil.copy(PIP, base / "etc")
    run("chroot", base, "update-ca-certificates")
    container = run("buildah", "from", "scratch")
    run("buildah", "add", "--quiet", container, base, "/")
    run(
        "buildah", "config", "--env", "PATH=/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", container
    )
    run("buildah", "commit", "--quiet", "--rm", container, BASE)
    file, where = ROOT / "deploy/docker/Dockerfile", ("--isolation", "chroot", "--network", "host")
    run(
        "buildah",
        "build",
        *where,
        "--build-arg",
        f"BASE={BASE}",
        "--file",
        file,
        "--tag",
        TAG,
        ROOT,
    )
    yield TAG
    run("buildah", "rmi", "--force", TAG, BASE)


def program(image: str, folder: Path, *command: str) -> list[str]:
    """A command in a container that may write to the folder and to /tmp alone. It gets the signals of its process here."""
    return [
        *("podman", "--cgroup-manager=cgroupfs", "--runtime=runc", "run", "--rm"),
        *("--read-only", "--tmpfs=/tmp", "--cap-drop=all", "--network=host"),
        *("--ulimit=nofile=4096:4096", "--ulimit=nproc=4096:4096"),
        *("--env=SPARK_LOCAL_IP=127.0.0.1", "--env=SPARK_LOCAL_DIRS=/tmp"),
        *(f"--volume={folder}:{folder}", f"--workdir={folder}", image, *command),
    ]


def submitted(script: str, *options: str) -> list[str]:
    job = f"/opt/group-coordinator/jobs/{script}.py"
    return ["spark-submit", "--master=local[2]", job, *options]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    os.chown(tmp_path, COORDINATOR, COORDINATOR)
    return tmp_path


def stopped(running: subprocess.Popen[str], condition: Callable[[], bool]) -> str:
    """End the program by SIGTERM as soon as the condition holds, and return its output."""
    try:
        until(
            lambda: running.poll() is not None or condition(), seconds=START_S, awaited="its rows"
        )
    finally:
        running.terminate()
        output, _ = running.communicate(timeout=STOP_S)
    assert running.returncode == 0, output
    return output


def started(command: list[str]) -> subprocess.Popen[str]:
    return subprocess.Popen(command, stdout=PIPE, stderr=STDOUT, text=True)  # noqa: S603 - a fixed program


def test_its_user_may_write_nothing_of_the_image(image: str, folder: Path) -> None:
    done = run(*program(image, folder, "sh", "-c", "id -u; touch /opt/file 2>&1 || true"))

    assert done.splitlines() == [
        str(COORDINATOR),
        "touch: cannot touch '/opt/file': Read-only file system",
    ]


def test_its_python_packages_have_the_versions_that_each_night_compares_with_known_faults(
    image: str, folder: Path
) -> None:
    # Without pip's own environment there is no `pip list`.
    listed = "from importlib.metadata import distributions as d; print(*{f'{x.name}=={x.version}' for x in d()})"
    packages = run(*program(image, folder, "python", "-c", listed)).split()
    audited = {
        canonicalize_name(line.partition("==")[0]): line.partition("==")[2]
        for line in (ROOT / "conf/constraints.txt").read_text().splitlines()
        if "==" in line
    }
    # What makes an environment, and the program itself.
    others = {"pip", "setuptools", "spark-group-coordinator"}
    found = {
        canonicalize_name(name): version
        for name, _, version in (each.partition("==") for each in packages)
    }

    assert found["pyspark"]
    assert {name: version for name, version in found.items() if name not in others} == {
        name: audited.get(name) for name in found if name not in others
    }


def test_the_coordinator_answers_until_it_is_stopped(
    image: str, broker: EmbeddedBroker, folder: Path
) -> None:
    installation = Installation.named("image", broker.bootstrap_servers, folder)
    given = [f"bootstrap.servers={broker.bootstrap_servers}", *installation.overrides]
    options = [option for setting in given for option in ("--set", setting)]
    run(*program(image, folder, "group-coordinator", "init", "--topics-only", *options))
    run(*program(image, folder, *submitted("create_tables", *options)))

    job = submitted("run_coordinator", "--with-compaction", *options)
    with Commits(installation):
        stopped(started(program(image, folder, *job)), lambda: logged(installation) >= MORE)

    run(*program(image, folder, *job, "--drain"))
    assert judged("image", installation, 2).problems == []


def test_a_mirror_follows_a_cluster_until_it_is_stopped(
    image: str, broker: EmbeddedBroker, folder: Path
) -> None:
    partition = TopicPartition("image-orders", 0)
    admin = KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)
    admin.create_topics([NewTopic(partition.topic, 1, 1)], wait_for_metadata=True)
    admin.close()
    consumer = KafkaConsumer(bootstrap_servers=broker.bootstrap_servers, group_id="image-mirror")
    consumer.assign([partition])
    consumer.commit({partition: OffsetAndMetadata(42, "", -1)})
    consumer.close(autocommit=False)
    given = [f"bootstrap.servers={broker.bootstrap_servers}", "cluster.id=mirrored"]
    options = [option for setting in given for option in ("--set", setting)]

    job = submitted("mirror_offsets_topic", "--with-compaction", *options)
    asked = "SELECT committed_offset FROM offsets WHERE group_id = 'image-mirror'"
    tables = folder / "group-coordinator-tables"

    def is_there() -> bool:
        if not DeltaTable.is_deltatable(str(tables / "offsets")):
            return False
        return rows(str(tables), asked) == [{"committed_offset": 42}]

    stopped(started(program(image, folder, *job)), is_there)
    assert is_there()
