"""Checkpoints and tables on S3: a file is one PUT, and of two drivers that want to write the same one only one does.

Spark's own way writes a file aside and renames it. On S3 a rename is a copy and a deletion, with a dozen questions around it,
and it replaces what another driver has written meanwhile. S3Files.java has the classes that Spark and Delta take instead.
py4j cannot subclass, so Janino, which compiles Spark's plans, compiles them in the driver; executors get them as a jar.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zipfile import ZipFile

from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.checkpoint.file_manager import streaming_package, use_file_manager
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.tables.roots import is_on_s3

_PACKAGE = "group_coordinator"
_LOG_STORE = "spark.delta.logStore.s3a.impl"
_FEW_QUESTIONS = {"fs.s3a.performance.flags": "create,mkdir,delete"}
"""S3A looks for files and folders of the same name before it writes one, and for parents after it has removed one."""


_VARIABLES = {
    "fs.s3a.access.key": "AWS_ACCESS_KEY_ID",
    "fs.s3a.secret.key": "AWS_SECRET_ACCESS_KEY",
    "fs.s3a.session.token": "AWS_SESSION_TOKEN",
    "fs.s3a.endpoint.region": "AWS_REGION",
    "fs.s3a.endpoint": "AWS_ENDPOINT_URL",
}


def use_s3(spark: SparkSession, job: JobSettings) -> None:
    """Let this session write to S3 so, if the checkpoint or the tables are there."""
    locations = (job.checkpoint_location, job.tables_root)
    if DATABRICKS in os.environ or not any(map(is_on_s3, locations)):
        return
    session: Any = spark
    for key, value in _FEW_QUESTIONS.items():
        session._jsc.hadoopConfiguration().setIfUnset(key, value)  # noqa: SLF001 - PySpark has no public way
    _share_login(session)
    _add(session, _compiled(session))
    if is_on_s3(job.checkpoint_location):
        use_file_manager(spark, f"{_PACKAGE}.S3CheckpointFiles")
    session._jsc.sc().conf().setIfMissing(_LOG_STORE, f"{_PACKAGE}.S3LogStore")  # noqa: SLF001


def _share_login(session: Any) -> None:
    """The deltalake package finds in the environment what it needs, or asks the machine as S3A does: what is set there stays."""
    hadoop = session._jsc.hadoopConfiguration()  # noqa: SLF001
    given = {name: hadoop.getTrimmed(key) for key, name in _VARIABLES.items()}
    endpoint = given["AWS_ENDPOINT_URL"]
    if endpoint and "://" not in endpoint:
        scheme = "https" if hadoop.getBoolean("fs.s3a.connection.ssl.enabled", True) else "http"  # noqa: FBT003
        given["AWS_ENDPOINT_URL"] = f"{scheme}://{endpoint}"
    if (given["AWS_ENDPOINT_URL"] or "").startswith("http:"):
        given["AWS_ALLOW_HTTP"] = "true"
    for name, value in given.items():
        if value:
            os.environ.setdefault(name, value)


def _compiled(session: Any) -> Path:
    """Return a jar; it stays for as long as executors may come."""
    source = files("group_coordinator.streaming.checkpoint").joinpath("S3Files.java").read_text()
    compiler = session._jvm.org.codehaus.janino.SimpleCompiler()  # noqa: SLF001
    compiler.setParentClassLoader(_loader(session))
    compiler.cook(source.replace("STREAMING", streaming_package(session)))
    jar = Path(mkdtemp(prefix="group-coordinator-"), "s3-files.jar")
    with ZipFile(jar, "w") as packed:
        for each in compiler.getClassFiles():
            name = each.getThisClassName().replace(".", "/")
            packed.writestr(f"{name}.class", bytes(each.toByteArray()))
    return jar


def _add(session: Any, jar: Path) -> None:
    url = session._jvm.java.io.File(str(jar)).toURI().toURL()  # noqa: SLF001
    _loader(session).addURL(url)
    session._jsc.addJar(str(jar))  # noqa: SLF001


def _loader(session: Any) -> Any:
    """Of the driver."""
    return session._jvm.java.lang.Thread.currentThread().getContextClassLoader()  # noqa: SLF001
