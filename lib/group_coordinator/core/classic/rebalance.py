"""The rebalance protocol: how a classic group moves from one state to the next, with records and replies on the way.

The rules are those of GroupMetadataManager in Kafka 4.3 (reference for a step: the method of a like name there).
Where Kafka iterates a hash map, members are taken in order of their ids.
"""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.classic.generation import (
    join_answer,
    metadata_of,
    subscription_of_members,
    sync_answer,
)
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member
from group_coordinator.core.model.config import NEW_MEMBER_JOIN_TIMEOUT_MS, CoordinatorConfig
from group_coordinator.core.model.decision import Decision
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, Reason, Record
from group_coordinator.core.model.responses import (
    JoinGroupResponse,
    Reply,
    Response,
    SyncGroupResponse,
)
from group_coordinator.core.model.states import ClassicState, check_transition
from group_coordinator.core.model.ticket import Ticket
from group_coordinator.core.model.timers import JOIN_TIMER, SYNC_TIMER, Timer, session_timer

_SHORTEST_WAIT_MS = 1_000


class Rebalance:
    """One step of a classic group: a copy of it that is changed, and what must be logged and answered."""

    def __init__(
        self, group: ClassicGroup, now_ms: int, config: CoordinatorConfig, reason: Reason
    ) -> None:
        self.group = group.copy()
        self.now_ms = now_ms
        self.config = config
        self.reason = reason
        self.records: list[Record] = []
        self.replies: list[Reply] = []

    def decision(self) -> Decision:
        """The step as a decision."""
        return Decision(self.records, self.replies, self.group)

    def answer(self, ticket: Ticket, response: Response) -> None:
        """Send a reply."""
        self.replies.append(Reply(ticket, response))

    # Timers and states.

    def arm(self, key: str, delay_ms: int) -> None:
        """Set a timer, or set it anew behind all others."""
        self.cancel(key)
        self.group.timers[key] = Timer(self.now_ms + max(0, delay_ms), self.now_ms)

    def arm_session(self, member: Member) -> None:
        """Give a member its whole session timeout from now on."""
        self.arm(session_timer(member.member_id), member.session_timeout_ms)

    def cancel(self, key: str) -> None:
        """Forget a timer; it is no fault if there is none."""
        self.group.timers.pop(key, None)

    def transition_to(self, state: ClassicState) -> None:
        """Enter a state; IllegalTransitionError if the table has no such move."""
        check_transition(self.group.state, state)
        self.group.previous_state = self.group.state
        self.group.state = state
        self.group.state_timestamp_ms = self.now_ms

    # Members.

    def put(self, member: Member) -> Member:
        """Store a member in place of the one with its id."""
        self.group.members[member.member_id] = member
        return member

    def add_member(self, member: Member, protocol_type: str) -> None:
        """Add a new member; the first one decides the protocol type and leads."""
        group = self.group
        if self._is_initial_rebalance:
            group.new_member_added = True
        if not group.members:
            group.protocol_type = protocol_type
        if group.leader is None:
            group.leader = member.member_id
        self.put(member)
        group.pending_joins.discard(member.member_id)
        self.arm(session_timer(member.member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)

    def remove_member(self, member_id: str) -> None:
        """Forget a member or a pending member; what it has parked is answered with UNKNOWN_MEMBER_ID.

        Kafka forgets a parked SyncGroup here, trusting that the connection ends. We have no connections.
        """
        group = self.group
        member = group.members.pop(member_id, None)
        if member is not None and member.awaiting_join is not None:
            gone = JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "")
            self.answer(member.awaiting_join, gone)
        if member is not None and member.awaiting_sync is not None:
            self.answer(member.awaiting_sync, SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID))
        if group.leader == member_id:
            group.leader = min(group.members, default=None)
        group.pending_joins.discard(member_id)
        group.pending_syncs.discard(member_id)
        self.cancel(session_timer(member_id))

    def replace_static_member(self, old: Member, new_member_id: str) -> Member:
        """Give a static member a new id; whatever the old id still waits for is fenced."""
        group = self.group
        old = self._answer_join(old, JoinGroupResponse(ErrorCode.FENCED_INSTANCE_ID, old.member_id))
        self._answer_sync(old, SyncGroupResponse(ErrorCode.FENCED_INSTANCE_ID))
        del group.members[old.member_id]
        if group.leader == old.member_id:
            group.leader = new_member_id
        self.cancel(session_timer(old.member_id))
        renewed = old.replace(
            member_id=new_member_id, awaiting_join=None, awaiting_sync=None, is_new=False
        )
        self.arm_session(renewed)
        return self.put(renewed)

    # Phases.

    def rebalance_or_complete_join(self) -> None:
        """Begin a rebalance, or, inside a join phase, end it if nobody is missing."""
        if self.group.state is ClassicState.PREPARING_REBALANCE:
            self.maybe_complete_join()
        else:
            self.prepare_rebalance()

    def prepare_rebalance(self) -> None:
        """Enter the join phase. A group that was Empty waits for more members first (KIP-134)."""
        group = self.group
        if group.state is ClassicState.COMPLETING_REBALANCE:
            self._abandon_syncs()
        group.pending_syncs.clear()
        self.cancel(SYNC_TIMER)
        if group.state is ClassicState.EMPTY:
            delay_ms = self.config.group_initial_rebalance_delay_ms
            group.initial_delay_left_ms = max(group.rebalance_timeout_ms - delay_ms, 0)
            self.arm(JOIN_TIMER, delay_ms)
            self.transition_to(ClassicState.PREPARING_REBALANCE)
            return
        self.transition_to(ClassicState.PREPARING_REBALANCE)
        if group.has_all_members_joined:
            self.complete_join()
        else:
            self.arm(JOIN_TIMER, group.rebalance_timeout_ms)

    def maybe_complete_join(self) -> None:
        """End the join phase if all have joined; an initial rebalance always waits for its delay."""
        group = self.group
        in_phase = group.state is ClassicState.PREPARING_REBALANCE
        if in_phase and not self._is_initial_rebalance and group.has_all_members_joined:
            self.complete_join()

    def join_timer_fired(self, delay_ms: int) -> None:
        """The join phase has lasted `delay_ms`: extend an initial delay that brought new members, or end it."""
        group = self.group
        left_ms = group.initial_delay_left_ms
        if left_ms and group.new_member_added:
            group.new_member_added = False
            group.initial_delay_left_ms = max(left_ms - delay_ms, 0)
            self.arm(JOIN_TIMER, min(self.config.group_initial_rebalance_delay_ms, left_ms))
        else:
            self.complete_join()

    def complete_join(self) -> None:
        """End the join phase: dynamic members that did not come are out, static ones are kept (KIP-345)."""
        group = self.group
        self.cancel(JOIN_TIMER)
        group.initial_delay_left_ms = None
        for member in [group.members[member_id] for member_id in sorted(group.members)]:
            if member.awaiting_join is None and member.group_instance_id is None:
                self.remove_member(member.member_id)
        if group.members and not group.awaiting_joins:
            # Only static members are left and none of them came: wait until their sessions end. Kafka looks again
            # after any timeout, were it 0 ms, and spins; what it sees in between is the same.
            self.arm(JOIN_TIMER, max(group.rebalance_timeout_ms, _SHORTEST_WAIT_MS))
            return
        group.generation += 1
        group.pending_syncs.clear()
        if group.members:
            self._begin_generation()
        else:
            self._become_empty()

    def _become_empty(self) -> None:
        group = self.group
        group.protocol = None
        group.subscribed_topics = subscription_of_members(group)
        self.transition_to(ClassicState.EMPTY)
        self.write_group({})

    def _begin_generation(self) -> None:
        group = self.group
        joined = group.awaiting_joins
        if group.leader not in joined:
            group.leader = joined[0]
        group.protocol = group.select_protocol()
        group.subscribed_topics = subscription_of_members(group)
        self.transition_to(ClassicState.COMPLETING_REBALANCE)
        for member_id in sorted(group.members):
            member = self._answer_join(group.members[member_id], join_answer(group, member_id))
            self.arm_session(member)
            self.put(member.replace(is_new=False))
            group.pending_syncs.add(member_id)
        self.arm(SYNC_TIMER, group.rebalance_timeout_ms)

    def complete_sync(self, assignments: Mapping[str, bytes]) -> None:
        """Take the leader's assignment, log the generation and answer every parked SyncGroup."""
        group = self.group
        self.write_group(assignments)
        for member_id in sorted(group.members):
            member = self.put(
                group.members[member_id].replace(assignment=assignments.get(member_id, b""))
            )
            self._answer_sync(member, sync_answer(group, member))
        self.transition_to(ClassicState.STABLE)

    def write_group(self, assignments: Mapping[str, bytes]) -> None:
        """Log the group as it is, with these assignments by member id."""
        self.records.append(GroupRecord(metadata_of(self.group, assignments), self.reason))

    # Pieces.

    @property
    def _is_initial_rebalance(self) -> bool:
        group = self.group
        return (
            group.state is ClassicState.PREPARING_REBALANCE
            and group.previous_state is ClassicState.EMPTY
        )

    def _answer_join(self, member: Member, response: JoinGroupResponse) -> Member:
        if member.awaiting_join is None:
            return member
        self.answer(member.awaiting_join, response)
        return self.put(member.replace(awaiting_join=None))

    def _answer_sync(self, member: Member, response: SyncGroupResponse) -> None:
        if member.awaiting_sync is not None:
            self.answer(member.awaiting_sync, response)
            # A session that lapsed while the member waited was ignored, so it must begin anew.
            self.arm_session(self.put(member.replace(awaiting_sync=None)))

    def _abandon_syncs(self) -> None:
        refusal = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
        for member_id in sorted(self.group.members):
            member = self.put(self.group.members[member_id].replace(assignment=b""))
            self._answer_sync(member, refusal)
