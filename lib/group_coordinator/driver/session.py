"""A Spark session from its start to its end: SIGTERM and Ctrl-C end a run at the next safe moment, and some kinds of compute cannot run the job.

Where Python started the JVM, signals reach Python. Under spark-submit, on YARN and on Kubernetes the JVM is the parent,
and its shutdown would end Spark in the middle of a batch. There a hook of ours comes first, and waits for the end of the
run: a shutdown hook may take its time, and all other threads go on meanwhile.

In YARN's cluster mode the JVM is the ApplicationMaster. It tells YARN how this process ended, from a thread of its own,
and YARN starts an application again whose ApplicationMaster ends without a word: a second hook waits for that thread.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from typing import Any

import pyspark
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark import SparkContext
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession
from pyspark.sql.utils import is_remote
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.driver.signals import signals_raised_in_python, stop_on_signals_to_python
from group_coordinator.streaming.cluster_options import DATABRICKS
from group_coordinator.streaming.spark_lines import newer_than

MakeSession = Callable[[], SparkSession]


@contextmanager
def session(make_session: MakeSession) -> Iterator[SparkSession]:
    """A session, which ends with the block unless it was there before.

    Raises:
        JobRefusedError: the session would be one of Spark Connect, which has no JVM to reach.
        UnknownSparkError: this Spark is older than those that the job was seen to run on, or newer and without their jars.
    """
    newer_than(pyspark.__version__)
    check_before_session()
    context: object = SparkContext._active_spark_context  # noqa: SLF001 - no public way to ask
    spark = make_session()
    try:
        check_session(spark)
        # PySpark's own handler of Ctrl-C calls Java on the connection whose response is awaited.
        with signals_raised_in_python():
            yield spark
    except KeyboardInterrupt:
        _hush(spark)
        raise
    finally:
        if context is None:
            spark.stop()


@retry(retry=retry_if_exception_type(Py4JNetworkError), stop=stop_after_attempt(3), reraise=True)
def _hush(spark: SparkSession) -> None:
    """Spark would log long traces of the running tasks.

    When a signal ends the wait for a response of Java, py4j closes the connection, and sometimes the next one as well.
    """
    spark.sparkContext.setLogLevel("OFF")


@contextmanager
def session_and_stop(make_session: MakeSession) -> Iterator[tuple[SparkSession, Event]]:
    """A session, and an event that a signal sets: for a job that ends at the next good moment.

    Raises:
        JobRefusedError: as for `session`.
        UnknownSparkError: as for `session`.
    """
    # The JVM may end after the session, not before.
    with ExitStack() as signals, session(make_session) as spark:
        yield spark, signals.enter_context(stop_on_signals(spark))


_BEFORE_SPARKS = 100
"""Spark's own hook has priority 40 among Hadoop's; the highest goes first."""
_LONGEST_STOP_S = 600
_THREAD_OF_YARN = "Driver"
"""What the ApplicationMaster names the thread that runs this process and waits for its status."""


class _JvmHook:
    """A java.lang.Runnable that the JVM runs when it is told to end."""

    def __init__(self, stop: Event) -> None:
        self._stop = stop
        self.was_run = False
        self.may_end = Event()

    def run(self) -> None:
        self.was_run = True
        self._stop.set()
        self.may_end.wait(_LONGEST_STOP_S)

    class Java:
        """py4j asks for this."""

        implements = ("java.lang.Runnable",)


@contextmanager
def stop_on_signals(spark: SparkSession) -> Iterator[Event]:
    """An event that a signal sets, to Python or to the JVM; after the block the JVM may end.

    Call it after Spark has started, which has a handler of its own. If it was the JVM that had to end, its status is 0
    once the block has ended well; in YARN's cluster mode YARN is told SUCCEEDED once this process has ended well.
    """
    with stop_on_signals_to_python() as stop, _jvm_hook(spark, stop):
        yield stop


@contextmanager
def _jvm_hook(spark: SparkSession, stop: Event) -> Iterator[None]:
    jvm = _jvm(spark)
    hooks = jvm.org.apache.hadoop.util.ShutdownHookManager.get()
    hook = _JvmHook(stop)
    in_jvm = jvm.java.lang.Thread(hook)  # an object of Java's own, which can be removed again
    seconds = jvm.java.util.concurrent.TimeUnit.SECONDS
    hooks.addShutdownHook(in_jvm, _BEFORE_SPARKS, _LONGEST_STOP_S, seconds)
    thread = _thread_of_yarn(spark, jvm)
    if thread is not None:
        hook.may_end.set()  # the JVM waits for the thread instead, and not in Python, which has ended by then
        runnable = jvm.java.lang.Class.forName("java.lang.Runnable")
        awaits_thread = jvm.java.beans.EventHandler.create(runnable, thread, "join")
        hooks.addShutdownHook(awaits_thread, _BEFORE_SPARKS - 1, _LONGEST_STOP_S, seconds)
    try:
        yield
        if hook.was_run and thread is None:
            with suppress(Py4JError, ConnectionError):  # nobody is left to answer
                jvm.java.lang.Runtime.getRuntime().halt(0)
    finally:
        hook.may_end.set()
        if not hook.was_run:
            hooks.removeShutdownHook(in_jvm)


def _thread_of_yarn(spark: SparkSession, jvm: Any) -> Any:
    """None: this is not YARN's cluster mode."""
    if spark.sparkContext.master != "yarn":
        return None
    threads = jvm.java.lang.Thread.getAllStackTraces().keySet()
    return next((thread for thread in threads if thread.getName() == _THREAD_OF_YARN), None)


def _jvm(spark: SparkSession) -> Any:
    """PySpark has no public way to it."""
    context: Any = spark.sparkContext
    ensure_callback_server_started(context._gateway)  # noqa: SLF001
    return context._jvm  # noqa: SLF001


_ACCESS_MODE = "spark.databricks.clusterUsageTags.dataSecurityMode"
_STANDARD = ("USER_ISOLATION", "DATA_SECURITY_MODE_STANDARD")
_SERVERLESS = "client."
"""How Databricks' name of the runtime begins on serverless compute."""


def check_before_session() -> None:
    """Refuse Spark Connect before anything reaches for a JVM that is not there.

    Raises:
        JobRefusedError: the session would be one of Spark Connect.
    """
    runtime = os.environ.get(DATABRICKS, "")
    if runtime.startswith(_SERVERLESS):
        raise _refusal(f"this is Databricks' serverless compute ({DATABRICKS} = {runtime})")
    if is_remote():
        raise _refusal(
            "this Spark is a Spark Connect server, as on Databricks' standard and serverless compute"
        )


def check_session(spark: SparkSession) -> None:
    """Refuse a session that came from elsewhere and has no JVM for us.

    Raises:
        JobRefusedError: it is one of Spark Connect, or of Databricks' standard compute.
    """
    if type(spark).__module__.startswith("pyspark.sql.connect."):
        raise _refusal("this session is one of Spark Connect")
    mode = str(spark.conf.get(_ACCESS_MODE, ""))
    if mode in _STANDARD:
        raise _refusal(f"this is Databricks' standard compute ({_ACCESS_MODE} = {mode})")


def _refusal(why: str) -> JobRefusedError:
    return JobRefusedError(
        f"{why}: the job needs a Spark of its own, as spark-submit and Databricks' dedicated compute "
        "(data_security_mode: SINGLE_USER) give it"
    )
