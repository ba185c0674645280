"""A Spark session from its start to its end."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from threading import Event

import pyspark
from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession
from tenacity import retry, retry_if_exception_type, stop_after_attempt

from group_coordinator.job.compute_check import check_before_session, check_session
from group_coordinator.job.python_signals import signals_raised_in_python
from group_coordinator.job.stop_signals import stop_on_signals
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
