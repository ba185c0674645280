"""A transactional producer without data, as a gateway's client talks to the brokers, and where its markers go."""

from __future__ import annotations

from typing import Any, TypeAlias

from kafka import KafkaConsumer, TopicPartition
from kafka.errors import for_code
from kafka.net.compat import KafkaNetClient
from kafka.protocol.metadata import FindCoordinatorRequest
from kafka.protocol.producer import AddOffsetsToTxnRequest, EndTxnRequest, InitProducerIdRequest

from group_coordinator.codecs.offsets_topic import OFFSETS_TOPIC, partition_of
from tests.support.until import until

SECONDS = 20.0
Json: TypeAlias = dict[str, Any]


class TransactionalProducer:
    """By single requests to the one broker."""

    def __init__(self, address: str, transactional_id: str, timeout_ms: int = 60_000) -> None:
        self._id = transactional_id
        self._client = KafkaNetClient(bootstrap_servers=address)
        self._client.check_version()
        [self._node] = [broker.node_id for broker in self._client.cluster.brokers()]
        # Makes the transaction coordinator's topic.
        self._ask(FindCoordinatorRequest(key=transactional_id, key_type=1, max_version=3))
        answer = self._ask(
            InitProducerIdRequest(
                transactional_id=transactional_id, transaction_timeout_ms=timeout_ms, max_version=4
            )
        )
        self.producer_id: int = answer.producer_id
        self.epoch: int = answer.producer_epoch

    def add(self, group: str) -> None:
        """AddOffsetsToTxn: succeeds only when the markers of the transaction before are written."""
        self._ask(AddOffsetsToTxnRequest(**self._who(), group_id=group, max_version=3))

    def end(self, *, commits: bool) -> None:
        self._ask(EndTxnRequest(**self._who(), committed=commits, max_version=3))

    def close(self) -> None:
        self._client.close()

    def _who(self) -> Json:
        return {
            "transactional_id": self._id,
            "producer_id": self.producer_id,
            "producer_epoch": self.epoch,
        }

    def _ask(self, request: Any) -> Any:
        def answered() -> Any:
            answer = self._client.send_and_receive(self._node, request)
            error = for_code(answer.error_code)
            if error.retriable:
                return None
            assert not answer.error_code, error
            return answer

        return until(answered, seconds=SECONDS, awaited=type(request).__name__, poll_s=0.02)


def markers_end(consumer: KafkaConsumer, group_id: str) -> int:
    """Where the group's partition of __consumer_offsets ends."""
    count = len(consumer.partitions_for_topic(OFFSETS_TOPIC))
    home = TopicPartition(OFFSETS_TOPIC, partition_of(group_id, count))
    end: int = consumer.end_offsets([home])[home]
    return end
