"""Errors of the deltalake package: its messages and those of its storage in a sentence, and tables that it cannot open.

Commits and maintenance of a catalog-managed Delta table belong to the catalog. The deltalake package cannot open it. Spark opens it by
its name and refuses its folder, and refuses OPTIMIZE and VACUUM unless the catalog allows them. Both were tested with deltalake
1.6.6 and Delta 4.4.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from deltalake import DeltaTable
from deltalake.exceptions import DeltaError

_CAUSE = re.compile(r"\s*(\x1b\[\d+m)?↳(\x1b\[\d+m)?\s*")
"""Separator of a failure and its cause below it."""
# With RUST_BACKTRACE in the environment some errors have the call stack, numbered from 0, a line or two each.
_BACKTRACE = re.compile(r"\n\s*(?:stack backtrace:|0: ).*", re.DOTALL)
_REQUEST_TO_A_STORE = re.compile(
    r"Error performing .*?(?:client error \(Connect\): |<Code>(?P<code>[^<]+)</Code>\s*<Message>(?P<said>[^<]*?)\.?</Message>.*</Error>)",
    re.DOTALL,
)
"""Prefix of the package's messages about requests to S3, up to the fault: the store's response is a document."""
CURES_OF_S3 = {
    r"NoSuchBucket": "create it, or set another",
    r"Service: S3, Status Code: 403|SignatureDoesNotMatch|InvalidAccessKeyId|AccessDenied: |loading credentials": "check the key (fs.s3a.access.key, or AWS_ACCESS_KEY_ID) and its rights in the bucket",
    r"(?s)fs\.s3a\..*(?:ConnectException|UnknownHostException)|S3 error: (?:tcp connect|dns) error": "check fs.s3a.endpoint, or AWS_ENDPOINT_URL",
}
"""Remedies by messages of Java, or of the deltalake package."""


def in_one_line(error: BaseException) -> str:
    """Return the message without backtrace, colors and line ends; the name of the error if it is empty."""
    text = _CAUSE.sub(": ", _BACKTRACE.sub("", str(error)))
    said = " ".join(_REQUEST_TO_A_STORE.sub(_answer, text).split()) or type(error).__name__
    return cured(said, said, CURES_OF_S3)


def _answer(request: re.Match[str]) -> str:
    return f"{request['code']}: {request['said']}" if request["code"] else ""


def cured(said: str, failure: str, cures: Mapping[str, str]) -> str:
    """Return the message, with the first remedy whose pattern is in the whole failure."""
    cure = next((cure for pattern, cure in cures.items() if re.search(pattern, failure)), None)
    return said if cure is None else f"{said}: {cure}"


FEATURES = frozenset({"catalogManaged", "catalogOwned-preview"})
"""The table feature in Delta's protocol; the second is its name in the preview."""

_SAID_BY_DELTALAKE = "Max catalog version is required"


class CatalogManagedError(DeltaError):
    """A folder has a catalog-managed table. The message names the table and the way to read it."""


@contextmanager
def opening(location: str | Path) -> Iterator[None]:
    try:
        yield
    except DeltaError as error:
        if _SAID_BY_DELTALAKE not in str(error):
            raise
        raise CatalogManagedError(
            f"{location} is a catalog-managed Delta table, which only Spark opens, and only by its name: set "
            "tables.root = catalog.schema, and query by `group-coordinator-job`"
        ) from error


def open_table(location: str | Path) -> DeltaTable:
    """Return the table in a folder. Raises CatalogManagedError, or DeltaError or OSError if it cannot be read."""
    with opening(location):
        return DeltaTable(location)
