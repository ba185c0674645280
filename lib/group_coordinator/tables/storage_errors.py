"""Storage errors of a start in a sentence: the setting, the location, and the storage's message."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from delta import exceptions
from deltalake.exceptions import CommitFailedError, DeltaError
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException

from group_coordinator.tables.delta_errors import CURES_OF_S3, cured, in_one_line

_CAUSE = re.compile(r"^(?:Caused by)?: (?P<said>.*)$", re.MULTILINE)
"""A cause in a Java stack trace; the last is the root."""
_PACKAGE = re.compile(r"^(?:\w+\.)+(?=[A-Z])")
_REQUEST_IDS = re.compile(
    r", Request ID: [^)]*|, Extended Request ID: [^)]*| \(SDK Attempt Count: \d+\)"
)
"""Additions of Amazon's SDK to a store's message."""
# Remedies by Java's messages about missing jars and unknown schemes; the first match counts.
_CURES = {
    r"data source: kafka": "give spark-submit the package of Spark's Kafka connector",
    r"plugin class for catalog|data source: delta": "give spark-submit the package of Delta",
    r"fs\.s3a\.S3AFileSystem not found": "give spark-submit the package org.apache.hadoop:hadoop-aws in Spark's Hadoop version",
    **CURES_OF_S3,
    r"Unknown mandatory key .*conditional\.overwrite": "S3 needs Hadoop 3.4.2 or later, which Spark has since 4.1",
    r"fs\.azurebfs\.\w+ not found": "give spark-submit the package org.apache.hadoop:hadoop-azure in Spark's Hadoop version",
    r"fs\.gs\.\w+ not found": "give spark-submit the package org.apache.hadoop:hadoop-gcp in Spark's Hadoop version",
    r'No FileSystem for scheme "s3n?"': "write s3a://",
    r'No FileSystem for scheme "gs"': "give spark-submit Google's gcs-connector for Hadoop",
    r"ACCESS_TO_CATALOG_MANAGED_TABLE": "give tables.root = catalog.schema",
    r"locate commit coordinator": "the table is managed by another catalog: give spark-submit that catalog's settings, and set "
    "tables.root to its schema",
    r"No FileSystem for scheme": "give a scheme that Spark's Hadoop has, or its package",
}


class StorageError(RuntimeError):
    """A storage refuses a request of a start, or is unreachable. The message is a sentence."""


@contextmanager
def storage_named(setting: str, location: str) -> Iterator[None]:
    try:
        yield
    except (DeltaError, OSError) as error:
        raise StorageError(f"{setting} = {location}: {in_one_line(error)}") from error
    except (Py4JJavaError, PySparkException) as error:
        raise StorageError(f"{setting} = {location}: {root_cause(str(error))}") from error


def root_cause(trace: str) -> str:
    """Return the root cause of a Java failure, without its class's package, with the remedy if it is known."""
    causes = [found["said"] for found in _CAUSE.finditer(trace)]
    first = next((line for line in trace.splitlines() if line.strip()), "no reason given")
    # The ids change with each request, and would make equal errors look different.
    said = _REQUEST_IDS.sub("", _PACKAGE.sub("", (causes or [first])[-1]))
    return with_cure(said.strip(), trace)


def with_cure(said: str, failure: str) -> str:
    return cured(said, failure, _CURES)


CONFLICTS: Final[tuple[type[Exception], ...]] = (
    CommitFailedError,
    # In Python these are no subclasses of the first, as they are in Java.
    exceptions.DeltaConcurrentModificationException,
    exceptions.ConcurrentAppendException,
    exceptions.ConcurrentDeleteDeleteException,
    exceptions.ConcurrentDeleteReadException,
    exceptions.ConcurrentTransactionException,
    exceptions.ConcurrentWriteException,
    exceptions.MetadataChangedException,
    exceptions.ProtocolChangedException,
)
"""Errors of a commit, of the deltalake package and of Spark, after another process has changed files that it uses."""
