"""A Spark session from start to end, the end of a run by SIGTERM and Ctrl-C, and a check of the kind of compute.

If Python started the JVM, signals reach Python. Under spark-submit, on YARN and on Kubernetes the JVM is the parent, and its
shutdown would end Spark in the middle of a batch: our own hook comes first, and waits for the end of the run. In YARN's cluster
mode a thread of the JVM reports to YARN how this process ended, and YARN restarts an application that ends without a report: a
second hook waits for that thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from typing import Any

import pyspark
from prometheus_client import generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.metrics_core import Metric
from psutil import Process
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from group_coordinator.driver.errors import StartUpError
from group_coordinator.driver.signals import signals_raised_in_python, stop_on_signals_to_python
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.streaming.spark_lines import newer_than

Point = tuple[Sequence[str], float]
"""The values of the labels, and of the series."""


class Figures:
    """A collector of prometheus_client: calls a function at each scrape."""

    def __init__(self, families: Callable[[], Iterable[Metric]]) -> None:
        self._families = families

    def collect(self) -> Iterator[Metric]:
        yield from self._families()

    def describe(self) -> Iterable[Metric]:
        """Return nothing: otherwise a registry would collect before there are metrics."""
        return ()


def text_of(families: Iterable[Metric]) -> bytes:
    """Return metrics in Prometheus' text format."""
    return generate_latest(Figures(lambda: families))


def gauge(name: str, meaning: str, labels: Sequence[str], points: Iterable[Point]) -> Metric:
    """Return a gauge with its series."""
    # A name of a group or topic may have the character 0, at which Prometheus drops the whole page
    # (model/textparse/promlex.l). The series has ␀0 instead, and ␀␀ instead of ␀, so that names stay different.
    family = GaugeMetricFamily(name, meaning, labels=labels)
    for values, number in points:
        family.add_metric(
            [value.replace("␀", "␀␀").replace("\0", "␀0") for value in values], number
        )
    return family


def figure(name: str, meaning: str, number: float) -> Metric:
    """Return a gauge without labels."""
    return gauge(name, meaning, (), [((), number)])


MakeSession = Callable[[], SparkSession]


@contextmanager
def session(make_session: MakeSession) -> Iterator[SparkSession]:
    """Yield a session, which ends with the block unless it existed before.

    Raises:
        StartUpError: Java did not start, or the session would be of Spark Connect, which has no JVM to reach.
        UnknownSparkError: this Spark is older than the tested versions, or newer and without their jars.
    """
    # Before the session, whose start takes seconds.
    newer_than(pyspark.__version__)
    check_before_session()
    context: object = SparkContext._active_spark_context  # noqa: SLF001 - no public way to ask
    children = Process().children()
    try:
        spark = make_session()
    except KeyboardInterrupt:
        _end_unconnected_java(children)
        raise
    except PySparkRuntimeError as error:
        if "JAVA_GATEWAY_EXITED" not in str(error):
            raise
        raise StartUpError(
            "Java ended before Spark could start: see its message above; check JAVA_HOME, JDK_JAVA_OPTIONS and the free memory"
        ) from error
    try:
        check_session(spark)
        # PySpark's own handler of Ctrl-C calls Java on the connection whose response is awaited.
        with signals_raised_in_python():
            yield spark
    except KeyboardInterrupt:
        _hush(spark)
        raise
    finally:
        # A session that existed before belongs to a notebook or to Databricks.
        if context is None:
            spark.stop()


def _end_unconnected_java(children_before: Sequence[Process]) -> None:
    # An interrupted PySpark removes the file by which Java announces its port. Java's main thread then fails, and the thread
    # of py4j's server keeps the process. A connected Java ends with this process.
    if SparkContext._gateway is None:  # noqa: SLF001 - no public way to ask
        for child in set(Process().children()).difference(children_before):
            child.terminate()


@retry(retry=retry_if_exception_type(Py4JNetworkError), stop=stop_after_attempt(3), reraise=True)
def _hush(spark: SparkSession) -> None:
    # Spark would log long traces of the running tasks. When a signal ends the wait for a response of Java, py4j closes
    # the connection, and sometimes the next connection as well.
    spark.sparkContext.setLogLevel("OFF")


@contextmanager
def session_and_stop(make_session: MakeSession) -> Iterator[tuple[SparkSession, Event]]:
    """Yield a session, and an event that a signal sets, for a job that ends at the next safe moment. Raises as `session`."""
    # The JVM may end after the session, not before.
    with ExitStack() as signals, session(make_session) as spark:
        yield spark, signals.enter_context(stop_on_signals(spark))


# Spark's own hook has priority 40 among Hadoop's; the highest goes first.
_BEFORE_SPARKS = 100
_LONGEST_STOP_S = 600
_THREAD_OF_YARN = "Driver"
"""Name of the ApplicationMaster's thread that runs this process and waits for its status."""


class _JvmHook:
    """A java.lang.Runnable that the JVM runs at its shutdown."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop
        self.was_run = False
        self.may_end = Event()

    def run(self) -> None:
        self.was_run = True
        self._stop.set()
        self.may_end.wait(_LONGEST_STOP_S)

    class Java:
        """Interfaces of this class, read by py4j."""

        implements = ("java.lang.Runnable",)


@contextmanager
def stop_on_signals(spark: SparkSession) -> Iterator[Event]:
    """Yield an event that a signal to Python or to the JVM sets; after the block the JVM may end.

    Must be called after the start of Spark, which has a handler of its own. After a successful block the JVM's status is 0 if it
    received the signal, and YARN receives SUCCEEDED.
    """
    with stop_on_signals_to_python() as stop, _jvm_hook(spark, stop):
        yield stop


@contextmanager
def _jvm_hook(spark: SparkSession, stop: Event) -> Iterator[None]:
    jvm = _jvm(spark)
    hooks = jvm.org.apache.hadoop.util.ShutdownHookManager.get()
    hook = _JvmHook(stop)
    # A Java object, which can be removed again.
    in_jvm = jvm.java.lang.Thread(hook)
    seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
    # Hadoop gives a hook 30 s by default, which a batch may exceed.
    hooks.addShutdownHook(in_jvm, _BEFORE_SPARKS, _LONGEST_STOP_S, seconds)
    thread = _thread_of_yarn(spark, jvm)
    if thread is not None:
        # The JVM waits for the thread instead, and not in Python, which has ended by then.
        hook.may_end.set()
        runnable = jvm.java.lang.Class.forName("java.lang.Runnable")
        awaits_thread = jvm.java.beans.EventHandler.create(runnable, thread, "join")
        hooks.addShutdownHook(awaits_thread, _BEFORE_SPARKS - 1, _LONGEST_STOP_S, seconds)
    try:
        yield
        if hook.was_run and thread is None:
            # The JVM ends during the call, so no response comes.
            with suppress(Py4JError, ConnectionError):
                jvm.java.lang.Runtime.getRuntime().halt(0)
    finally:
        hook.may_end.set()
        if not hook.was_run:
            hooks.removeShutdownHook(in_jvm)


def _thread_of_yarn(spark: SparkSession, jvm: Any) -> Any:
    if spark.sparkContext.master != "yarn":
        return None
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    return next((thread for thread in threads if thread.getName() == _THREAD_OF_YARN), None)


def _jvm(spark: SparkSession) -> Any:
    # PySpark has no public way to the JVM.
    context: Any = spark.sparkContext
    ensure_callback_server_started(context._gateway)  # noqa: SLF001
    return context._jvm  # noqa: SLF001


_ACCESS_MODE = "spark.databricks.clusterUsageTags.dataSecurityMode"
_STANDARD = ("USER_ISOLATION", "DATA_SECURITY_MODE_STANDARD")
_SERVERLESS = "client."
"""Prefix of Databricks' runtime version on serverless compute."""


def check_before_session() -> None:
    """Refuse Spark Connect, with StartUpError, before anything uses a JVM that does not exist."""
    runtime = os.environ.get(DATABRICKS, "")
    if runtime.startswith(_SERVERLESS):
        raise _unsupported(f"this is Databricks' serverless compute ({DATABRICKS} = {runtime})")
    if is_remote():
        raise _unsupported(
            "this Spark is a Spark Connect server, as on Databricks' standard and serverless compute"
        )


def check_session(spark: SparkSession) -> None:
    """Refuse an existing session without an accessible JVM, with StartUpError."""
    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise _unsupported("this session is one of Spark Connect")
    mode = str(spark.conf.get(_ACCESS_MODE, ""))
    if mode in _STANDARD:
        raise _unsupported(f"this is Databricks' standard compute ({_ACCESS_MODE} = {mode})")


def _unsupported(why: str) -> StartUpError:
    return StartUpError(
        f"{why}: the job needs a Spark of its own, as spark-submit and Databricks' dedicated compute "
        "(data_security_mode: SINGLE_USER) give it"
    )
