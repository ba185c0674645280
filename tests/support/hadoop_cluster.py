"""A real HDFS and a real YARN on loopback: Hadoop's own servers in one process (hadoop/HadoopCluster.java)."""

from __future__ import annotations

from base64 import b64decode
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from group_coordinator.local.jars import other_jars
from tests.conformance.kafka.coordinators import Process, java_program

COORDINATES = (
    "org.apache.hadoop:hadoop-client-minicluster:3.4.1",
    # What its servers need and it does not bring.
    "javax.xml.bind:jaxb-api:2.3.1",
    "org.bouncycastle:bcpkix-jdk18on:1.87",
    "org.slf4j:slf4j-reload4j:1.7.36",
)
_SOURCE = Path(__file__).with_name("hadoop") / "HadoopCluster.java"
_OPENED = ("--add-opens", "java.base/java.lang=ALL-UNNAMED")


class Said(NamedTuple):
    """What came of a command of Hadoop's: its status and what it printed."""

    status: int
    printed: bytes


class HadoopCluster:
    """Made by `hadoop_cluster`: a NameNode and two DataNodes; a ResourceManager and two NodeManagers once they are asked for."""

    def __init__(self, folder: Path, process: Process) -> None:
        self._process = process
        self.address = self._say("start HDFS").printed.decode()
        """Of the file system: hdfs://localhost:PORT."""
        self.folder = folder
        self.configuration = folder / "conf"
        """A HADOOP_CONF_DIR."""

    def start_yarn(self) -> None:
        self._say("start YARN")

    def stop_name_node(self) -> None:
        self._say("stop NameNode")

    def start_name_node(self) -> None:
        """Return when it takes requests again."""
        self._say("start NameNode")

    def dfs(self, *arguments: str) -> Said:
        """As `hdfs dfs ARGUMENTS`."""
        return self._say("dfs", *arguments)

    def yarn(self, *arguments: str) -> Said:
        """As `yarn ARGUMENTS`, for what is about applications and containers."""
        return self._say("yarn", *arguments)

    def _say(self, *words: str) -> Said:
        [said] = self._process.say("\t".join(words))
        return Said(said["status"], b64decode(said["base64"]))


@contextmanager
def hadoop_cluster(folder: Path) -> Iterator[HadoopCluster]:
    """HDFS for the time of the block. Raises NoCompilerError without a JDK."""
    jars = other_jars("hadoop", COORDINATES)
    with (folder / "hadoop.log").open("wb") as log:
        options = (*_OPENED, f"-Dfolder={folder}")
        started = java_program(_SOURCE, "hadoop.HadoopCluster", jars, log, *options)
        with closing(started) as process:
            yield HadoopCluster(folder, process)
