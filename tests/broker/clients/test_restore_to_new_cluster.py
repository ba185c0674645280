"""`import` into the groups of a cluster that has none yet, such as a new standby."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pyarrow as pa
import pytest
from click.testing import CliRunner
from kafka import KafkaAdminClient, OffsetAndMetadata, TopicPartition
from kafka.admin import NewTopic
from pyarrow import parquet

from group_coordinator.cli.main import main
from group_coordinator.clients.cluster.connection import Connection
from group_coordinator.clients.errors import LoginRefusedError
from group_coordinator.local.broker import EmbeddedBroker

pytestmark = pytest.mark.kafka

GROUP, TOPIC, PARTITIONS = "moved", "wide", 300
PAGE = "x" * 4_096
"""The longest metadata that a broker accepts: those of all partitions are too large for one batch of its log."""


@pytest.fixture(scope="module")
def standby() -> Iterator[EmbeddedBroker]:
    with EmbeddedBroker() as broker:
        with closing(KafkaAdminClient(bootstrap_servers=broker.bootstrap_servers)) as admin:
            admin.create_topics([NewTopic(TOPIC, PARTITIONS, 1)])
        yield broker


def imported(standby: EmbeddedBroker, folder: Path, topic: str) -> list[str]:
    """Import offset 0 and a page of metadata for each partition; return the lines of the result."""
    file = folder / "offsets.parquet"
    columns = {
        "group_id": [GROUP] * PARTITIONS,
        "topic": [topic] * PARTITIONS,
        "partition": range(PARTITIONS),
        "committed_offset": [0] * PARTITIONS,
        "metadata": [PAGE] * PARTITIONS,
    }
    parquet.write_table(pa.table(columns), file)
    options = ("--to-bootstrap-server", standby.bootstrap_servers, "--execute", "--format", "csv")
    done = CliRunner().invoke(main, ["import", "--input", str(file), *options])
    assert done.exit_code == 0, done.output
    return done.stdout.splitlines()[1:]


def test_first_groups_of_a_cluster_are_imported_with_all_their_metadata(
    standby: EmbeddedBroker, tmp_path: Path
) -> None:
    lines = imported(standby, tmp_path, TOPIC)

    assert lines == [f"moved,wide,{number},,0,0,true," for number in range(PARTITIONS)]
    with closing(KafkaAdminClient(bootstrap_servers=standby.bootstrap_servers)) as admin:
        assert admin.list_group_offsets(GROUP)[GROUP] == {
            TopicPartition(TOPIC, number): OffsetAndMetadata(0, PAGE, -1)
            for number in range(PARTITIONS)
        }


def test_a_name_that_no_topic_can_have_is_no_hidden_topic(
    standby: EmbeddedBroker, tmp_path: Path
) -> None:
    lines = imported(standby, tmp_path, "no topic!")

    assert lines[0] == "moved,no topic!,0,,0,,false,the topic does not exist: stays as it is"


def test_a_login_at_a_cluster_without_logins(standby: EmbeddedBroker) -> None:
    login = {
        "security_protocol": "SASL_PLAINTEXT",
        "sasl_mechanism": "PLAIN",
        "sasl_plain_username": "alice",
        "sasl_plain_password": "pw",
    }

    with pytest.raises(LoginRefusedError) as refused:
        Connection(standby.bootstrap_servers, login).open(KafkaAdminClient)

    assert str(refused.value) == (
        f"Kafka at {standby.bootstrap_servers} takes no login: security.protocol = SASL_PLAINTEXT is not the cluster's"
    )
