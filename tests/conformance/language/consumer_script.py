"""The verbs of the consumer protocol (KIP-848), and of classic members that live beside it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from tests.conformance.language.embedded import embedded_assignment
from tests.conformance.language.lines import Errors, Generation, Json, named_partitions, partitions
from tests.conformance.language.script import Script

UNCHANGED: Final = "unchanged"
"""What is assigned where the answer has no assignment: it keeps what it has."""

REBALANCE_MS: Final = 60_000


class ConsumerScript(Script):
    """A script that speaks ConsumerGroupHeartbeat too.

    Members choose their ids: they are their names. What a member owns is given as "orders:01 audit:0", or "@m1" for
    what m1 was last given; the epoch that it was last told goes by "#m1".
    """

    def other(self, group: str) -> ConsumerScript:
        return ConsumerScript(self._draft, group)

    def silent(self) -> ConsumerScript:
        return ConsumerScript(self._draft, self._group, wants_answers=False)

    # ---- ConsumerGroupHeartbeat -------------------------------------------------------------

    def enter(
        self,
        name: str,
        topics: str | None = "orders",
        *,
        owns: str | None = "",
        rebalance: int | None = REBALANCE_MS,
        sent_epoch: int = 0,
        **others: object,
    ) -> None:
        """Say all that a member says when it comes: epoch 0, its subscription, that it owns nothing."""
        self.beat(
            name, sent_epoch=sent_epoch, owns=owns, topics=topics, rebalance=rebalance, **others
        )  # type: ignore[arg-type]

    def beat(
        self,
        name: str,
        *,
        sent_epoch: Generation | None = None,
        owns: str | None = None,
        topics: str | None = None,
        regex: str | None = None,
        rebalance: int | None = None,
        instance: str | None = None,
        rack: str | None = None,
        assignor: str | None = None,
        member: str | None = None,
        version: int = 1,
        error: Errors = 0,
        epoch: int | None = None,
        assigned: str | None = None,
        also: str | None = None,
        rejoin: Json | None = None,
    ) -> None:
        """Say a heartbeat, of the epoch that was told last, with nothing that is not asked for.

        `sent_epoch` is the epoch in the request, `epoch` the one in the answer, `assigned` the assignment in it; `rejoin` is the body that is said instead where
        the member is none any more as far as it knows.
        """
        if instance:
            self._draft.instances[name] = instance
        body: Json = {
            "groupId": self._group,
            "memberId": self._id(name) if member is None else member,
            "memberEpoch": f"#{name}" if sent_epoch is None else sent_epoch,
            **_given("instanceId", instance or self._draft.instances.get(name)),
            **_given("rackId", rack),
            **_given("rebalanceTimeoutMs", rebalance),
            **_given("subscribedTopicNames", None if topics is None else topics.split()),
            **_given("subscribedTopicRegex", regex),
            **_given("serverAssignor", assignor),
            **_given("topicPartitions", _owned(owns)),
        }
        says = {} if epoch is None else {"memberEpoch": epoch}
        if assigned is not None:
            says["assignment"] = None if assigned == UNCHANGED else partitions(assigned)
        self.send("ConsumerGroupHeartbeat", version, body, error, also, client=name)
        line = self._draft.lines.pop()
        asks_for_id = member == ""
        self._draft.lines.append(replace(line, asks_for_id=asks_for_id, says=says, rejoin=rejoin))
        if asks_for_id:
            self._draft.names.add(name)

    def ack(self, name: str, **others: object) -> None:
        """Say a heartbeat with all that the member was last given."""
        self.beat(name, owns=f"@{name}", **others)  # type: ignore[arg-type]

    def full(
        self, name: str, topics: str | None = "orders", *, owns: str | None = None, **others: object
    ) -> None:
        """Say all again, as a client does that lost an answer."""
        owned = f"@{name}" if owns is None else owns
        self.beat(name, topics=topics, owns=owned, rebalance=REBALANCE_MS, **others)  # type: ignore[arg-type]

    def quit(self, name: str, **others: object) -> None:
        """Leave for good (-1)."""
        self.beat(name, sent_epoch=-1, **others)  # type: ignore[arg-type]

    def pause(self, name: str, **others: object) -> None:
        """Leave for a while, as a static member may (-2)."""
        self.beat(name, sent_epoch=-2, **others)  # type: ignore[arg-type]

    def gather(self, *names: str, topics: str = "orders", rounds: int = 3) -> None:
        """Let these members come, and acknowledge what they get until nothing moves any more."""
        for name in names:
            self.enter(name, topics)
        self.settle(*names, rounds=rounds)

    def settle(self, *names: str, rounds: int = 3) -> None:
        """Let all acknowledge what they have, in turns."""
        for name in names * rounds:
            self.ack(name)

    # ---- classic members --------------------------------------------------------------------

    def classic(
        self,
        name: str,
        topics: str = "orders",
        *,
        owned: str | None = None,
        metadata_version: int = 3,
        protocols: str = "range",
        chosen_id: bool = True,
        member: str | None = None,
        **others: object,
    ) -> None:
        """Join as a classic member, its id its name; owned: None or "" nothing, "@c1" what c1 was last given."""
        metadata: Json = {
            "subscribes": topics.split(),
            "owned": owned if owned and owned.startswith("@") else named_partitions(owned or ""),
            "version": metadata_version,
            "generation": f"#{name}" if owned else -1,
        }
        known = name in self._draft.names
        chosen = name if chosen_id and not known and member is None else member
        given = [(protocol, metadata) for protocol in protocols.split()]
        self.join(name, member=chosen, protocols=given, **others)  # type: ignore[arg-type]

    def synced(
        self,
        name: str,
        generation: Generation | None = None,
        *,
        assigned: str | None = None,
        also: str | None = None,
        error: Errors = 0,
        **others: object,
    ) -> None:
        """Ask for the assignment of the generation last joined, or lead with what everybody gets."""
        asked = f"#{name}" if generation is None else generation
        self.sync(name, asked, error=error, also=also, **others)  # type: ignore[arg-type]
        if assigned is not None:
            self._says({"assignment": named_partitions(assigned)})

    def lead(self, name: str, assignments: Mapping[str, str], **others: object) -> None:
        """Sync with everybody's assignment, each as "orders:01"."""
        everybody = {
            member: embedded_assignment(named_partitions(spec))
            for member, spec in assignments.items()
        }
        self.sync(name, f"#{name}", everybody, **others)  # type: ignore[arg-type]

    # ---- looking on -------------------------------------------------------------------------

    def describe_consumers(
        self,
        *,
        version: int = 1,
        state: str | None = None,
        epoch: int | None = None,
        target_epoch: int | None = None,
        epochs: Mapping[str, int] | None = None,
        holds: Mapping[str, str] | None = None,
        targets: Mapping[str, str] | None = None,
        error: Errors = 0,
    ) -> None:
        """Ask for the group; what is said about it holds, of its members too."""
        self.send("ConsumerGroupDescribe", version, {"groupIds": [self._group]}, error)
        wanted = {"groupState": state, "groupEpoch": epoch, "assignmentEpoch": target_epoch}
        says: Json = {f"groups.0.{name}": wish for name, wish in wanted.items() if wish is not None}
        for name, number in (epochs or {}).items():
            says[f"groups.0.members.{name}.memberEpoch"] = number
        for name, spec in (holds or {}).items():
            says[f"groups.0.members.{name}.assignment"] = partitions(spec)
        for name, spec in (targets or {}).items():
            says[f"groups.0.members.{name}.targetAssignment"] = partitions(spec)
        self._says(says)

    def configure(self, error: Errors = 0, **settings: int | str | None) -> None:
        """Set the group's own configs, an underscore a dot; None takes one away."""
        configs = [
            {
                "name": name.replace("_", "."),
                "configOperation": 1 if value is None else 0,
                "value": None if value is None else str(value),
            }
            for name, value in settings.items()
        ]
        resource = {"resourceType": 32, "resourceName": self._group, "configs": configs}
        self.send("IncrementalAlterConfigs", 1, {"resources": [resource]}, error)

    def _says(self, says: Json) -> None:
        line = self._draft.lines.pop()
        self._draft.lines.append(replace(line, says=says))


def _given(name: str, value: object) -> Json:
    return {} if value is None else {name: value}


def _owned(spec: str | None) -> object:
    return spec if spec is None or spec.startswith("@") else partitions(spec)
