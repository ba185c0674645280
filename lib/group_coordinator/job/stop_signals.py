"""SIGTERM and Ctrl-C as a wish: whoever runs ends at the next good moment.

Where Python started the JVM, signals reach Python. Under spark-submit, on YARN and on Kubernetes the JVM is the parent,
and its shutdown would end Spark in the middle of a batch. There a hook of ours comes first, and waits for the end of the
run: a shutdown hook may take its time, and all other threads go on meanwhile.

In YARN's cluster mode the JVM is the ApplicationMaster. It tells YARN how this process ended, from a thread of its own,
and YARN starts an application again whose ApplicationMaster ends without a word: a second hook waits for that thread.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any

from py4j.protocol import Py4JError
from pyspark.java_gateway import ensure_callback_server_started
from pyspark.sql import SparkSession

from group_coordinator.job.python_signals import stop_on_signals_to_python

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
