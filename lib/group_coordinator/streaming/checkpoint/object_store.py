"""Checkpoints and tables on S3: a file is one PUT, and if two drivers write the same file, only one succeeds.

Spark's own way renames a file, which on S3 is a copy and a deletion, and replaces the file of another driver. S3Files.java has
the classes that Spark and Delta use instead. py4j cannot subclass, so Janino, the compiler of Spark's plans, compiles them in the
driver. Executors get them as a jar. The package of Spark's classes for checkpoints depends on Spark's version.
"""

from __future__ import annotations

import os
from importlib.resources import files
from pathlib import Path
from tempfile import mkdtemp
from typing import Any
from zipfile import ZipFile

from py4j.java_gateway import JavaClass
from py4j.protocol import Py4JJavaError
from pyspark import SparkContext
from pyspark.sql import SparkSession

from group_coordinator.settings import JobSettings
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.tables.append import LOG_STORE
from group_coordinator.tables.roots import is_on_s3, is_url_elsewhere

_STREAMING = "org.apache.spark.sql.execution.streaming"
PACKAGES = (f"{_STREAMING}.checkpointing", _STREAMING)
"""From Spark 4.1, and before."""

SETTING = "spark.sql.streaming.checkpointFileManagerClass"


def file_managers(spark: SparkSession) -> Any:
    """Return the Java class CheckpointFileManager."""
    return _class(spark, "CheckpointFileManager")


def rename_plainly(spark: SparkSession, location: str) -> None:
    """Rename checkpoint files on this machine's disk as Hadoop's FileSystem does.

    The default renames with links, and without Hadoop's native library each check of a link starts a process.
    """
    if is_url_elsewhere(location):
        return
    use_file_manager(spark, f"{streaming_package(spark)}.FileSystemBasedCheckpointFileManager")


def use_file_manager(spark: SparkSession, name: str) -> None:
    """Set the class that reads and writes the checkpoints of this session."""
    spark.conf.set(SETTING, name)


def streaming_package(spark: SparkSession) -> str:
    """Return the package of Spark's streaming classes."""
    return str(_class(spark, "CheckpointFileManager")._fqn).rpartition(".")[0]  # noqa: SLF001 - py4j has no public way


def _class(spark: SparkSession, name: str) -> Any:
    session: Any = spark
    jvm = session._jvm  # noqa: SLF001 - PySpark has no public way
    # py4j returns a JavaPackage for an unknown name, so only a JavaClass proves that the class exists.
    for package in PACKAGES:
        found = getattr(jvm, f"{package}.{name}")
        if isinstance(found, JavaClass):
            return found
    raise LookupError(f"Spark {spark.version} has no {name} in {' or '.join(PACKAGES)}")


_FILES = "group_coordinator.S3CheckpointFiles"
_LOG_STORE_OF_S3 = "spark.delta.logStore.s3a.impl"
FILES_OF_SCHEME = "group.coordinator.files."
"""Prefix of a scheme in Hadoop's configuration: the class for files there."""
# Required classes. If a class is missing, the first access to the store names its package.
_NEEDED = ("org.apache.hadoop.fs.s3a.S3AFileSystem", "io.delta.storage.S3SingleDriverLogStore")
# By default S3A looks for files and folders of the same name before a write, and for parents after a removal. A PUT waits
# for "100 Continue" before its content, which is a second round trip, and a batch's files are small.
_FEW_ROUND_TRIPS = {
    "fs.s3a.performance.flags": "create,mkdir,delete",
    "fs.s3a.connection.expect.continue": "false",
}
_ENDPOINT = "fs.s3a.endpoint"
_VARIABLES = {
    "fs.s3a.access.key": "AWS_ACCESS_KEY_ID",
    "fs.s3a.secret.key": "AWS_SECRET_ACCESS_KEY",
    "fs.s3a.session.token": "AWS_SESSION_TOKEN",
    "fs.s3a.endpoint.region": "AWS_REGION",
    _ENDPOINT: "AWS_ENDPOINT_URL",
}


def use_s3(spark: SparkSession, job: JobSettings) -> None:
    """Use these classes in this session, if the checkpoint or the tables are on S3."""
    locations = (job.checkpoint_location, job.tables_root)
    session: Any = spark
    if DATABRICKS in os.environ or not any(map(is_on_s3, locations)) or not _has_classes(session):
        return
    hadoop = session._jsc.hadoopConfiguration()  # noqa: SLF001 - PySpark has no public way
    # The user's own setting takes precedence.
    for key, value in _FEW_ROUND_TRIPS.items():
        hadoop.setIfUnset(key, value)
    _share_login(hadoop)
    _add(session, _compiled(session))
    hadoop.set(f"{FILES_OF_SCHEME}s3a", _FILES)
    if is_on_s3(job.checkpoint_location):
        use_file_manager(spark, _FILES)
    session._jsc.sc().conf().setIfMissing(_LOG_STORE_OF_S3, LOG_STORE)  # noqa: SLF001


def use_login_of_submit(job: JobSettings) -> None:
    """Give the deltalake package the login that spark-submit received. No session is needed: the JVM runs anyway."""
    is_submitted = "PYSPARK_GATEWAY_PORT" in os.environ and DATABRICKS not in os.environ
    if is_submitted and is_on_s3(job.tables_root):
        context: Any = SparkContext
        context._ensure_initialized()  # noqa: SLF001 - PySpark has no public way
        _share_login(context._jvm.org.apache.spark.deploy.SparkHadoopUtil.get().conf())  # noqa: SLF001


def _has_classes(session: Any) -> bool:
    try:
        for name in _NEEDED:
            _loader(session).loadClass(name)
    except Py4JJavaError:
        return False
    return True


def _share_login(hadoop: Any) -> None:
    """Copy the login between the environment, all that the deltalake package reads, and S3A's configuration; none is no error."""
    for key, name in _VARIABLES.items():
        given = hadoop.getTrimmed(key)
        # S3A's configuration takes precedence over the environment, as spark-submit sets it explicitly.
        if given:
            os.environ.setdefault(name, _as_url(hadoop, given) if key == _ENDPOINT else given)
        elif name in os.environ:
            hadoop.set(key, os.environ[name])
    endpoint = os.environ.get(_VARIABLES[_ENDPOINT])
    if endpoint is not None:
        # Most stores other than Amazon's have no host name for each bucket.
        hadoop.setIfUnset("fs.s3a.path.style.access", "true")
        if endpoint.startswith("http:"):
            os.environ.setdefault("AWS_ALLOW_HTTP", "true")


def _as_url(hadoop: Any, endpoint: str) -> str:
    if "://" in endpoint:
        return endpoint
    is_encrypted = hadoop.getBoolean("fs.s3a.connection.ssl.enabled", True)  # noqa: FBT003 - Hadoop's signature
    return f"{'https' if is_encrypted else 'http'}://{endpoint}"


def _compiled(session: Any) -> Path:
    # The jar stays until the end of the driver, because executors may start at any time.
    source = files("group_coordinator.streaming.checkpoint").joinpath("S3Files.java").read_text()
    compiler = session._jvm.org.codehaus.janino.SimpleCompiler()  # noqa: SLF001
    compiler.setParentClassLoader(_loader(session))
    compiler.cook(source.replace("STREAMING", streaming_package(session)))
    jar = Path(mkdtemp(prefix="group-coordinator-"), "s3-files.jar")
    for each in (jar.parent, jar):  # Java deletes the last first
        session._jvm.java.io.File(str(each)).deleteOnExit()  # noqa: SLF001
    with ZipFile(jar, "w") as packed:
        for each in compiler.getClassFiles():
            name = each.getThisClassName().replace(".", "/")
            packed.writestr(f"{name}.class", bytes(each.toByteArray()))
    return jar


def _add(session: Any, jar: Path) -> None:
    url = session._jvm.java.io.File(str(jar)).toURI().toURL()  # noqa: SLF001
    # For the driver, whose class path is fixed; addJar is for the executors.
    _loader(session).addURL(url)
    session._jsc.addJar(str(jar))  # noqa: SLF001


def _loader(session: Any) -> Any:
    return session._jvm.java.lang.Thread.currentThread().getContextClassLoader()  # noqa: SLF001
