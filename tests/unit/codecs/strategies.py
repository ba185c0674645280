"""Any values of the core that can exist: what its groups and records are made of."""

from __future__ import annotations

from base64 import urlsafe_b64encode

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from group_coordinator.core.embedded_protocol import encode_subscription
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import (
    ClassicMember,
    ClassicState,
    Protocol,
    ReplyAddress,
)
from group_coordinator.core.model.group import Group
from group_coordinator.core.model.records import (
    GroupMetadata,
    GroupRecord,
    MemberMetadata,
    OffsetRecord,
    Reason,
    Record,
    TransactionMarker,
)
from group_coordinator.core.model.requests import Topic
from group_coordinator.core.model.stored_values import StoredValues
from group_coordinator.core.model.timers import (
    CLASSIC_MEMBER_KINDS,
    JOIN_TIMER,
    SYNC_TIMER,
    Timer,
    TimerKey,
    TimerKind,
    Timers,
)
from group_coordinator.core.model.topic_offsets import (
    CommittedOffset,
    LastMarker,
    PendingOffset,
    TopicOffsets,
)

int32s = st.integers(-(2**31), 2**31 - 1)
int64s = st.integers(-(2**63), 2**63 - 1)
times_ms = st.integers(0, 2**63 - 1)
names = st.text(max_size=8)
topic_ids = st.binary(min_size=16, max_size=16).map(
    lambda data: urlsafe_b64encode(data).decode().rstrip("=")
)
epochs = st.none() | st.integers(0, 2**31 - 1)

lasting_offsets = st.builds(
    CommittedOffset,
    offset=int64s,
    leader_epoch=epochs,
    metadata=names,
    commit_timestamp_ms=times_ms,
    expire_timestamp_ms=st.none(),
    topic_id=st.none() | topic_ids,
)
expiring_offsets = st.builds(
    CommittedOffset,
    offset=int64s,
    leader_epoch=st.none(),
    metadata=names,
    commit_timestamp_ms=times_ms,
    expire_timestamp_ms=times_ms,
    topic_id=st.none(),
)
tickets = st.builds(ReplyAddress, names, st.none() | names, st.integers(0, 10))
timers = st.builds(Timer, times_ms, times_ms)
timer_keys = st.one_of(
    st.sampled_from([JOIN_TIMER, SYNC_TIMER]),
    st.builds(TimerKey, st.sampled_from([TimerKind.SESSION, *CLASSIC_MEMBER_KINDS]), names),
)
topics = st.builds(Topic, names, topic_ids, int32s)
metadata = st.binary(max_size=20) | st.lists(names, max_size=3).map(encode_subscription)
protocol_types = st.sampled_from([None, "consumer", "connect"])


protocols = st.builds(Protocol, names, metadata)

members = st.builds(
    ClassicMember,
    member_id=names,
    group_instance_id=st.none() | names,
    client_id=names,
    client_host=names,
    rebalance_timeout_ms=int32s,
    session_timeout_ms=int32s,
    protocols=st.lists(protocols, max_size=3).map(tuple),
    assignment=st.binary(max_size=10),
    is_new=st.booleans(),
    awaiting_join=st.none() | tickets,
    awaiting_sync=st.none() | tickets,
)


def memberships(protocol_type: str | None) -> SearchStrategy[ClassicGroup]:
    states = st.sampled_from(ClassicState)
    return st.builds(
        ClassicGroup,
        state=states,
        previous_state=states,
        state_timestamp_ms=st.none() | times_ms,
        generation=int32s,
        protocol_type=st.just(protocol_type),
        protocol=st.none() | names,
        leader=st.none() | names,
        subscribed_topics=st.none() | st.frozensets(names, max_size=3),
        members=st.lists(members, max_size=3).map(
            lambda found: StoredValues.of({member.member_id: member for member in found})
        ),
        pending_joins=st.sets(names, max_size=3),
        pending_syncs=st.sets(names, max_size=3).map(dict.fromkeys),
        timers=st.dictionaries(timer_keys, timers, max_size=4).map(Timers),
        initial_delay_left_ms=st.none() | times_ms,
        new_member_added=st.booleans(),
    )


def _place(waiting: PendingOffset) -> int:
    return -1 if waiting.markers_end_offset is None else waiting.markers_end_offset


groups = st.builds(
    Group,
    group_id=names,
    membership=st.none() | protocol_types.flatmap(memberships),
    offsets=st.dictionaries(
        names,
        st.dictionaries(int32s, lasting_offsets | expiring_offsets, min_size=1, max_size=3).map(
            TopicOffsets.of
        ),
        max_size=3,
    ).map(StoredValues.of),
    topics=st.none()
    | st.lists(topics, max_size=3).map(lambda found: {topic.name: topic for topic in found}),
    clock_ms=times_ms,
    wake_ms=times_ms,
    pending=st.dictionaries(
        st.tuples(names, int32s),
        st.dictionaries(
            int64s,
            st.lists(
                st.builds(
                    PendingOffset,
                    lasting_offsets,
                    st.none() | st.integers(1, 9),
                    st.none() | st.integers(0, 9),
                    st.none(),
                ),
                min_size=1,
                max_size=3,
                unique_by=_place,
            ).map(lambda waiting: tuple(sorted(waiting, key=_place))),
            min_size=1,
            max_size=2,
        ),
        max_size=2,
    ),
    last_markers=st.dictionaries(
        int64s,
        st.builds(LastMarker, st.integers(0, 9), st.none() | st.integers(0, 9), times_ms),
        max_size=3,
    ),
)


@st.composite
def group_metadata(draw: st.DrawFn) -> GroupMetadata:
    protocol_type: str = draw(st.sampled_from(["", "consumer", "connect"]))
    protocol: str | None = draw(st.none() | names)

    entries = st.builds(
        MemberMetadata,
        member_id=names,
        group_instance_id=st.none() | names,
        client_id=names,
        client_host=names,
        rebalance_timeout_ms=int32s,
        session_timeout_ms=int32s,
        subscription=st.builds(Protocol, st.just(protocol or ""), metadata),
        assignment=st.binary(max_size=10),
    )
    return GroupMetadata(
        protocol_type=protocol_type,
        generation=draw(int32s),
        protocol=protocol,
        leader=draw(st.none() | names),
        state_timestamp_ms=draw(st.none() | times_ms),
        members=tuple(draw(st.lists(entries, max_size=3))),
    )


reasons = st.sampled_from(Reason)
offset_records: SearchStrategy[Record] = st.builds(
    OffsetRecord, names, int32s, st.none() | lasting_offsets | expiring_offsets, reasons, st.none()
)
group_records: SearchStrategy[Record] = st.builds(
    GroupRecord, st.none() | group_metadata(), reasons
)
epochs = st.none() | st.integers(0, 2**15 - 1)
places = st.none() | st.integers(0, 2**63 - 1)
"""Of a marker in the brokers' log, or not said."""
transactional_records: SearchStrategy[Record] = (
    st.builds(OffsetRecord, names, int32s, lasting_offsets, reasons, int64s, places, epochs)
    | st.builds(
        TransactionMarker,
        int64s,
        st.lists(st.tuples(names, int32s, lasting_offsets), max_size=3).map(tuple),
        st.just(Reason.TRANSACTION_COMMITTED),
        places,
        places,
        epochs,
    )
    | st.builds(TransactionMarker, int64s, st.just(()), st.just(Reason.TRANSACTION_ABORTED), places)
)
records = offset_records | group_records | transactional_records
