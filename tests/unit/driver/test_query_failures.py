from __future__ import annotations

import pytest

from group_coordinator import settings
from group_coordinator.driver.error_causes import outage, sentence

JOB = settings.load(overrides=["tables.root=/data/tables", "checkpoint.location=/data/state"]).job
TIMEOUT = (
    "org.apache.kafka.common.errors.TimeoutException: "
    "Topic group-responses not present in metadata after 60000 ms."
)


def caused_by(text: str) -> str:
    return f"Job aborted.\nCaused by: {text}\n\tat ..."


STORAGE = "(tables.root = /data/tables, checkpoint.location = /data/state)"
FULL = "/data/tables/coordinator_log cannot be written: No space left on device"
DENIED = "Kafka at localhost:9092 denies user ANONYMOUS access: group-responses"
S3_DENIED = (
    "java.nio.file.AccessDeniedException: coordinator/offsets/7: org.apache.hadoop.fs.s3a.X\n\tat a.b\n"
    "Caused by: software.amazon.awssdk.services.s3.model.S3Exception: Access Denied (Service: S3, Status Code: 403, "
    "Request ID: 7A)"
)
S3_DENIED_SAID = (
    f"a request to S3 failed {STORAGE}: S3Exception: Access Denied (Service: S3, Status Code: 403): check the key "
    "(fs.s3a.access.key, or AWS_ACCESS_KEY_ID) and its rights in the bucket"
)
SLOW_WORKER_SAID = (
    "a Python process of Spark did not start within 10 s: this machine has too much other work. Start again when "
    "its load is lower, or on another machine; nothing is lost"
)
DELETED = "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not host this topic-partition."
DELETED_SAID = (
    "topic group-events at localhost:9092 has lost records that were not read yet: they are older than its retention, or "
    "the topic was deleted or created again. Their events are missing in the tables, so this run cannot continue. To "
    "begin with the topic's present records, set another cluster.id and another checkpoint.location"
)
SECOND_RUN = (
    "org.apache.spark.SparkException: [CONCURRENT_STREAM_LOG_UPDATE] Concurrent update to the log. Multiple streaming "
    "jobs detected for 7."
)
SECOND_RUN_SAID = (
    "checkpoint.location = /data/state: another run works on this checkpoint, and has written a batch "
    "before this run: this run ends, and nothing is lost"
)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "org.apache.kafka.common.errors.TopicAuthorizationException: Not authorized to access topics: [group-responses]",
            "Kafka at localhost:9092 denies this user: Not authorized to access topics: [group-responses]",
        ),
        (f"group_coordinator.clients.errors.AccessDeniedError: {DENIED}", DENIED),
        (f"group_coordinator.tables.append.TableWriteError: {FULL}", FULL),
        (SECOND_RUN, SECOND_RUN_SAID),
        (DELETED, DELETED_SAID),
        (
            "java.io.IOException: Disk quota exceeded",
            f"a folder of the job cannot be written {STORAGE}: Caused by: java.io.IOException: Disk quota exceeded",
        ),
        (
            "py4j.protocol.Py4JJavaError: o1.close.\n: java.io.IOException: Disk quota exceeded",
            f"a folder of the job cannot be written {STORAGE}: java.io.IOException: Disk quota exceeded",
        ),
        (S3_DENIED, S3_DENIED_SAID),
        (TIMEOUT, f"Kafka at localhost:9092 does not respond: {TIMEOUT}"),
        (
            "org.apache.spark.SparkException: Python worker failed to connect back.",
            SLOW_WORKER_SAID,
        ),
        ("java.lang.IllegalStateException: a defect", None),
    ],
    ids=[
        *(
            "ACL",
            "ACL of the driver",
            "table",
            "another run",
            "gone",
            "folder",
            "checkpoint",
            "S3",
            "no broker",
            "load",
        ),
        "a defect is not the user's",
    ],
)
def test_a_failure_is_a_sentence(text: str, said: str | None) -> None:
    assert sentence(caused_by(text), JOB) == said


@pytest.mark.parametrize(
    "said",
    [
        (
            'End of File Exception between local host is: "vm/127.0.0.1"; destination host is: "localhost":36825; '
            ": java.io.EOFException"
        ),
        (
            "Call From vm/127.0.0.1 to localhost:36825 failed on connection exception: java.net.ConnectException: "
            "Connection refused"
        ),
    ],
)
def test_hdfs_does_not_answer(said: str) -> None:
    text = f"{said}; For more details see:  http://wiki.apache.org/hadoop/ConnectionRefused"

    assert sentence(caused_by(f"java.io.IOException: {text}"), JOB) == (
        f"HDFS does not respond {STORAGE}: {said}"
    )


@pytest.mark.parametrize(
    "loss",
    [
        "[KAFKA_DATA_LOSS.START_OFFSET_RESET] Some data may have been lost",
        # As tasks of Spark 4.0 say it.
        "Some data may have been lost because they are not available in Kafka any more;\neither the data",
    ],
)
def test_records_are_gone_that_were_not_read(loss: str) -> None:
    told = sentence(
        caused_by(f"org.apache.spark.sql.kafka010.KafkaIllegalStateException: {loss}"), JOB
    )

    assert told is not None
    assert told.startswith(
        "topic group-events at localhost:9092 has lost records that were not read yet"
    )


def test_a_timestamp_that_spark_cannot_read_is_told_where_its_kafka_source_met_it() -> None:
    overflow = (
        "java.lang.ArithmeticException: long overflow\n"
        "\tat java.base/java.lang.Math.multiplyExact(Math.java:1004)\n"
        "\tat org.apache.spark.sql.catalyst.util.SparkDateTimeUtils.millisToMicros(SparkDateTimeUtils.scala:100)\n"
    )
    source = "\tat org.apache.spark.sql.kafka010.KafkaRecordToRowConverter$.$anonfun$x$1(KafkaRecordToRowConverter.scala:41)"

    told = sentence(caused_by(overflow + source), JOB)

    assert told is not None
    assert told.startswith(
        "topic group-events at localhost:9092 has a record whose timestamp Spark cannot read: "
        "it is not within 9223372036854775 ms of 1970. "
    )
    assert sentence(caused_by(overflow), JOB) is None


def test_only_a_broker_that_does_not_answer_is_waited_for() -> None:
    assert outage(caused_by(TIMEOUT)) == TIMEOUT
    ours = "BrokerUnreachableError: no Kafka broker responds (localhost:9092: Connection refused)"
    assert outage(caused_by(f"group_coordinator.clients.errors.{ours}")) == ours
    # The next attempt begins with a check of the topic.
    large = "org.apache.kafka.common.errors.RecordTooLargeException: The request included a message larger than allowed."
    assert outage(caused_by(large)) == large
    assert outage(caused_by("java.io.IOException: No space left on device")) is None
