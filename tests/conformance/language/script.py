"""Scripts: conversations with a coordinator in the protocol's verbs.

A script is played to Kafka's own classes and to ours (kafka/coordinators.py); its lines are those of
`group-coordinator replay-events`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tests.conformance.language.lines import (
    PARKED,
    WHOLE,
    Errors,
    Generation,
    Json,
    Line,
    ScriptDraft,
    by_topic,
    described_topic,
    packed,
    subscription,
    topic_id,
)

Protocols = Mapping[str, bytes | Json] | Sequence[tuple[str, bytes | Json]]
"""Names with metadata; pairs where a name comes twice."""


class Script:
    """The protocol's verbs for one group; every verb adds one line at the script's current time."""

    def __init__(self, draft: ScriptDraft, group: str = "g", *, wants_answers: bool = True) -> None:
        self._draft = draft
        self._group = group
        self._wants_answers = wants_answers

    def other(self, group: str) -> Script:
        """Speak of another group, in the same conversation."""
        return Script(self._draft, group)

    def silent(self) -> Script:
        """Speak without a correlation id."""
        return Script(self._draft, self._group, wants_answers=False)

    # ---- time and the world -----------------------------------------------------------------

    def at(self, at_ms: int, also: str = "") -> None:
        """Let the time pass until then: nothing happens unless `also` says what."""
        self._draft.now_ms = at_ms
        self._draft.lines.append(Line({"at": at_ms}, also=also))

    def jump(self, at_ms: int) -> None:
        """Say the next line at that time, with no line in between."""
        self._draft.now_ms = at_ms

    def cluster(self, *topics: str, also: str = "") -> None:
        """Tell which topics there are now, each as NAME:PARTITIONS or NAME#INCARNATION:PARTITIONS."""
        text = {"at": self._draft.now_ms, "topics": [described_topic(spec) for spec in topics]}
        self._draft.lines.append(Line(text, also=also))

    def restart(self, log: str = WHOLE, *, also: str | None = None, **settings: int | str) -> None:
        """Let another coordinator load the log, with these settings changed, an underscore a dot; nobody answers pending requests.

        It begins at a sweep of expired offsets: in Kafka the time of the next follows from the time of the start.
        """
        changed = {name.replace("_", "."): str(value) for name, value in settings.items()}
        text = {"at": self._draft.now_ms, "restart": changed, "log": log}
        self._draft.lines.append(Line(text, also=also))

    def look(self) -> None:
        """Ask for the group as it is now."""
        self._draft.lines.append(Line({"describe": self._group}))

    # ---- membership -------------------------------------------------------------------------

    def join(
        self,
        name: str,
        *,
        version: int = 5,
        topics: str = "orders",
        protocols: Protocols | None = None,
        protocol_type: str = "consumer",
        session: int = 10_000,
        rebalance: int = 60_000,
        instance: str | None = None,
        member: str | None = None,
        reason: str | None = None,
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        """Join: the first time with an empty member id, then with the one that was given."""
        is_first = member is None and name not in self._draft.names
        if protocols is None:
            protocols = {"range": subscription(*topics.split())}
        named = protocols.items() if isinstance(protocols, Mapping) else protocols
        body: Json = {"groupId": self._group, "sessionTimeoutMs": session}
        if version >= 1:
            body["rebalanceTimeoutMs"] = rebalance
        body["memberId"] = "" if is_first else self._id(name if member is None else member)
        body |= _known(version, 5, "groupInstanceId", instance)
        body["protocolType"] = protocol_type
        body["protocols"] = [
            {
                "name": protocol,
                "metadata": metadata if isinstance(metadata, dict) else packed(metadata),
            }
            for protocol, metadata in named
        ]
        body |= _known(version, 8, "reason", reason)
        self.send("JoinGroup", version, body, error, also, client=name, asks_for_id=is_first)
        if is_first:
            self._draft.names.add(name)

    def form(self, *names: str, topics: str = "orders", session: int = 10_000) -> None:
        """Make a Stable group of generation 1, the first name its leader.

        One initial rebalance delay passes for one member, two for several.
        """
        for name in names:
            self.join(name, topics=topics, session=session, error=79)
            self.join(name, topics=topics, session=session, error=PARKED)
        if len(names) > 1:
            self.at(self._draft.now_ms + 3_000)
        self.at(self._draft.now_ms + 3_000, " ".join(["JoinGroup=0"] * len(names)))
        self.sync_all(*names, generation=1)

    def sync_all(self, leader: str, *followers: str, generation: int) -> None:
        """Let the followers sync, then the leader with everybody's assignment."""
        for name in followers:
            self.sync(name, generation, error=PARKED)
        assignments = {name: f"for {name}".encode() for name in (leader, *followers)}
        also = " ".join(["+group"] + ["SyncGroup=0"] * len(followers))
        self.sync(leader, generation, assignments, also=also)

    def sync(
        self,
        name: str,
        generation: Generation,
        assignments: Mapping[str, bytes] | None = None,
        *,
        version: int = 5,
        protocol_type: str | None = "consumer",
        protocol: str | None = "range",
        instance: str | None = None,
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        body: Json = {
            "groupId": self._group,
            "generationId": generation,
            "memberId": self._id(name),
            **_known(version, 3, "groupInstanceId", instance),
            **_known(version, 5, "protocolType", protocol_type),
            **_known(version, 5, "protocolName", protocol),
            "assignments": [
                {"memberId": self._id(member), "assignment": packed(assignment)}
                for member, assignment in (assignments or {}).items()
            ],
        }
        self.send("SyncGroup", version, body, error, also, client=name)

    def heartbeat(
        self,
        name: str,
        generation: Generation,
        *,
        version: int = 4,
        instance: str | None = None,
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        body: Json = {
            "groupId": self._group,
            "generationId": generation,
            "memberId": self._id(name),
            **_known(version, 3, "groupInstanceId", instance),
        }
        self.send("Heartbeat", version, body, error, also, client=name)

    def leave(
        self,
        *members: str,
        version: int = 5,
        reason: str | None = None,
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        """Leave, each as MEMBER, MEMBER@INSTANCE or @INSTANCE."""
        body: Json = {"groupId": self._group}
        if version < 3:
            body["memberId"] = self._id(members[0])
        else:
            body["members"] = [
                {
                    "memberId": self._id(name),
                    **({"groupInstanceId": instance} if at else {}),
                    **_known(version, 5, "reason", reason),
                }
                for name, at, instance in (member.partition("@") for member in members)
            ]
        self.send("LeaveGroup", version, body, error, also)

    # ---- offsets ----------------------------------------------------------------------------

    def commit(
        self,
        *offsets: str,
        member: str = "",
        generation: Generation = -1,
        version: int = 8,
        instance: str | None = None,
        retention: int | None = None,
        metadata: str | None = "",
        leader_epoch: int | None = None,
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        """Commit offsets, each as TOPIC-PARTITION=OFFSET."""
        details: Json = _known(version, 6, "committedLeaderEpoch", leader_epoch)
        topics = _committed(offsets, {**details, "committedMetadata": metadata})
        body: Json = {
            "groupId": self._group,
            "generationIdOrMemberEpoch": generation,
            "memberId": self._id(member),
            **_known(version, 7, "groupInstanceId", instance),
            **_known(version, 2, "retentionTimeMs", retention),
            "topics": [
                {**_topic(name, version), "partitions": partitions}
                for name, partitions in topics.items()
            ],
        }
        self.send("OffsetCommit", version, body, error, also)

    def txn_commit(
        self,
        *offsets: str,
        producer: int = 17,
        producer_epoch: int = 0,
        member: str = "",
        generation: Generation = -1,
        version: int = 3,
        instance: str | None = None,
        metadata: str | None = "",
        error: Errors = 0,
        also: str | None = None,
    ) -> None:
        """Commit offsets in a producer's transaction, each as TOPIC-PARTITION=OFFSET."""
        body: Json = {
            "transactionalId": f"t-{producer}",
            "groupId": self._group,
            "producerId": producer,
            "producerEpoch": producer_epoch,
            "topics": [
                {**_topic(name, version, ids_since=6), "partitions": partitions}
                for name, partitions in _committed(offsets, {"committedMetadata": metadata}).items()
            ],
        }
        if version >= 3:
            body |= {"generationIdOrMemberEpoch": generation, "memberId": self._id(member)}
            body["groupInstanceId"] = instance
        self.send("TxnOffsetCommit", version, body, error, also)

    def end_txn(self, *, producer: int = 17, commit: bool = True, also: str | None = None) -> None:
        """End the producer's transaction."""
        body = {
            "groupId": self._group,
            "producerId": producer,
            "producerEpoch": 0,
            "committed": commit,
        }
        self.send("EndTxn", 0, body, 0, also)

    def fetch(
        self,
        *partitions: str,
        version: int = 8,
        member: str | None = None,
        sent_epoch: int | None = None,
        stable: bool | None = None,
        error: Errors = 0,
    ) -> None:
        """Fetch these partitions, each as TOPIC-PARTITION, or all that the group has."""
        topics = [
            {**_topic(name, version), "partitionIndexes": indexes}
            for name, indexes in by_topic(partitions).items()
        ]
        asked: Json = {"groupId": self._group, "topics": topics or None}
        if version >= 8:
            asked |= _known(version, 9, "memberId", member and self._id(member))
            asked |= _known(version, 9, "memberEpoch", sent_epoch)
            asked = {"groups": [asked]}
        asked |= _known(version, 7, "requireStable", stable)
        self.send("OffsetFetch", version, asked, error)

    def delete_offsets(self, *partitions: str, error: Errors = 0, also: str | None = None) -> None:
        topics = [
            {"name": name, "partitions": [{"partitionIndex": index} for index in indexes]}
            for name, indexes in by_topic(partitions).items()
        ]
        self.send("OffsetDelete", 0, {"groupId": self._group, "topics": topics}, error, also)

    # ---- the group --------------------------------------------------------------------------

    def delete(self, *, version: int = 2, error: Errors = 0, also: str | None = None) -> None:
        self.send("DeleteGroups", version, {"groupsNames": [self._group]}, error, also)

    def describe(self, *, version: int = 6, error: Errors = 0) -> None:
        self.send("DescribeGroups", version, {"groups": [self._group]}, error)

    def send(
        self,
        api: str,
        version: int,
        body: Json,
        error: Errors = 0,
        also: str | None = None,
        *,
        client: str = "admin",
        asks_for_id: bool = False,
    ) -> None:
        """Send any request."""
        event = {
            "api": api,
            "version": version,
            "correlationId": f"c{len(self._draft.lines) + 1}" if self._wants_answers else None,
            "clientId": client,
            "clientHost": "/10.0.0.7",
            "body": body,
        }
        text = {"at": self._draft.now_ms, "event": event}
        self._draft.lines.append(Line(text, error, also, asks_for_id=asks_for_id))

    def _id(self, name: str) -> str:
        return f"${name}" if name in self._draft.names else name


def _known(version: int, since: int, name: str, value: object) -> Json:
    return {name: value} if value is not None and version >= since else {}


def _committed(offsets: Sequence[str], details: Json) -> dict[str, list[Json]]:
    """Partitions to commit by topic, each given as TOPIC-PARTITION=OFFSET."""
    topics: dict[str, list[Json]] = {}
    for spec in offsets:
        partition, _, offset = spec.partition("=")
        name, _, index = partition.rpartition("-")
        committed = {"partitionIndex": int(index), "committedOffset": int(offset)}
        topics.setdefault(name, []).append({**committed, **details})
    return topics


def _topic(name: str, version: int, ids_since: int = 10) -> Json:
    return {"topicId": topic_id(name)} if version >= ids_since else {"name": name.partition("#")[0]}
