"""How a failure becomes a sentence; what Spark says: tests/spark/test_storage_errors.py."""

from __future__ import annotations

import pytest
from deltalake.exceptions import DeltaError
from pyspark.errors import AnalysisException

from group_coordinator.tables.storage_errors import StorageError, root_cause, storage_named

REFUSED_BY_S3 = """\
An error occurred while calling o99.sql.
: org.apache.hadoop.fs.s3a.AWSBadRequestException: getFileStatus on s3a://coordinator/tables/groups/_delta_log: \
software.amazon.awssdk.services.s3.model.S3Exception: null (Service: S3, Status Code: 400, Request ID: null):400 Bad Request
\tat org.apache.hadoop.fs.s3a.S3AUtils.translateException(S3AUtils.java:265)
Caused by: software.amazon.awssdk.services.s3.model.S3Exception: null (Service: S3, Status Code: 400, Request ID: null)
\tat software.amazon.awssdk.services.s3.model.S3Exception$BuilderImpl.build(S3Exception.java:113)
\t... 150 more
"""


@pytest.mark.parametrize(
    ("trace", "said"),
    [
        (
            REFUSED_BY_S3,
            "S3Exception: null (Service: S3, Status Code: 400)",
        ),
        (
            "[TABLE_OR_VIEW_NOT_FOUND] no table\n\nJVM stacktrace:\n\tat a.b",
            "[TABLE_OR_VIEW_NOT_FOUND] no table",
        ),
        ("java.net.UnknownHostException: nowhere\n\tat a.b", "UnknownHostException: nowhere"),
        (
            "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta.",
            "[DATA_SOURCE_NOT_FOUND] Failed to find the data source: delta.: give spark-submit the package of Delta",
        ),
        (
            (
                "java.nio.file.AccessDeniedException: a/b: org.apache.hadoop.fs.s3a.AWSBadRequestException\n"
                "Caused by: software.amazon.awssdk.services.s3.model.S3Exception: Access Denied. (Service: S3, Status Code: 403,"
                " Request ID: 7A, Extended Request ID: x/9A=) (SDK Attempt Count: 1)"
            ),
            (
                "S3Exception: Access Denied. (Service: S3, Status Code: 403): check the key (fs.s3a.access.key, or "
                "AWS_ACCESS_KEY_ID) and its rights in the bucket"
            ),
        ),
        (
            (
                "org.apache.hadoop.fs.s3a.AWSClientIOException: put on a/b: software.amazon.awssdk.core.exception.SdkClientException\n"
                "Caused by: java.net.ConnectException: Connection refused"
            ),
            "ConnectException: Connection refused: check fs.s3a.endpoint, or AWS_ENDPOINT_URL",
        ),
        ("", "no reason given"),
    ],
)
def test_the_root_of_a_trace(trace: str, said: str) -> None:
    assert root_cause(trace) == said


@pytest.mark.parametrize(
    "failure",
    [
        DeltaError("the bucket says no"),
        OSError("the bucket says no"),
        AnalysisException("the bucket says no"),
    ],
)
def test_setting_and_location_are_named(failure: Exception) -> None:
    with pytest.raises(StorageError) as refused, storage_named("tables.root", "s3a://b/t"):
        raise failure

    assert str(refused.value) == "tables.root = s3a://b/t: the bucket says no"
    assert refused.value.__cause__ is failure


def test_a_defect_stays_what_it_is() -> None:
    with pytest.raises(TypeError, match="a defect"), storage_named("tables.root", "s3a://b/t"):
        raise TypeError("a defect")
