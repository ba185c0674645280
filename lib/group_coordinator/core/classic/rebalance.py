"""The rebalance of a classic group: from one state to the next, with records and responses on the way. Static members may be absent.

Kafka looks again whenever the longest rebalance timeout has passed, be it one of 0 ms, and sees the same until somebody
comes: then the phase lasts until the next look. Here most looks in between are left out.

Told in: stories/classic/static_rebalances.py.

A rebalance has two phases. Each is a state with a timer of the group's own, and may take the longest rebalance timeout:

1. `prepare_rebalance` (prepareRebalance) begins the join phase, PreparingRebalance: parked SyncGroups are told to join
   again, JoinGroups are parked. A group that was Empty first waits for more members, and again while new ones come
   (KIP-134, tryCompleteInitialRebalanceElseSchedule); any other phase ends as soon as all members have joined.
2. `complete_join` (completeClassicGroupJoin) ends it and begins the sync phase, CompletingRebalance: dynamic members that
   did not come are out, the generation grows, leader and protocol are chosen, and all parked JoinGroups are answered.
   Without members the group becomes Empty instead, and that is logged.
3. `complete_sync` (setAndPropagateAssignment) ends it with the leader's assignment: only now is the generation logged;
   parked SyncGroups are answered, and the group is Stable. Members that send no SyncGroup in time are removed, which
   begins the next rebalance (expirePendingSync).

Rules and names are those of GroupMetadataManager in Kafka 4.4. Where Kafka iterates a hash map, members are taken in
order of their ids.

Told in: stories/classic/rebalancing.py, stories/classic/static_rebalances.py.
"""

from __future__ import annotations

from collections.abc import Mapping

from group_coordinator.core.classic.generation import (
    join_answer,
    metadata_of,
    subscription_of_members,
    sync_answer,
)
from group_coordinator.core.model.changes import Decision, MembershipReplaced
from group_coordinator.core.model.classic_group import ClassicGroup
from group_coordinator.core.model.classic_member import Member, Ticket
from group_coordinator.core.model.config import NEW_MEMBER_JOIN_TIMEOUT_MS, CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, Reason, Record
from group_coordinator.core.model.responses import (
    JoinGroupResponse,
    Reply,
    Response,
    SyncGroupResponse,
)
from group_coordinator.core.model.states import ClassicState, check_transition
from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    NEVER_MS,
    SYNC_TIMER,
    TimerKey,
    session_timer,
)

_SHORTEST_WAIT_MS = 1_000


def wait_for_anybody(rebalance_timeout_ms: int) -> int:
    """After how many milliseconds to look again: at one of the times at which Kafka does."""
    timeout_ms = max(rebalance_timeout_ms, 1)
    return -(-_SHORTEST_WAIT_MS // timeout_ms) * timeout_ms


def wait_for_others(before: ClassicGroup, membership: ClassicGroup, now_ms: int) -> int | None:
    """The first member comes now: after how many milliseconds Kafka looks again; None: when the timer runs out.

    `before` is the group before it came, which may have changed the longest rebalance timeout.
    """
    timer = membership.timers.get(JOIN_TIMER)
    if timer is None or timer.due_ms - timer.armed_ms >= 2 * _SHORTEST_WAIT_MS:
        return None
    timeout_ms = before.rebalance_timeout_ms
    length_ms = timer.due_ms - timer.armed_ms
    if length_ms <= max(timeout_ms, 0) or length_ms != wait_for_anybody(timeout_ms):
        return None
    if not _began_again(before) or not membership.awaiting_joins:
        return None
    return timeout_ms - (now_ms - timer.armed_ms) % timeout_ms if timeout_ms > 0 else 0


def _began_again(before: ClassicGroup) -> bool:
    """Whether nobody came to the join phase: static members alone are left, and an initial delay is over."""
    if not before.members or before.initial_delay_left_ms is not None:
        return False
    return all(
        member.group_instance_id is not None and member.awaiting_join is None
        for member in before.members.values()
    )


class Rebalance:
    """Changes a copy of a classic group, and collects what must be logged and answered."""

    def __init__(
        self, membership: ClassicGroup, now_ms: int, config: CoordinatorConfig, reason: Reason
    ) -> None:
        self.membership = membership.copy()
        self._before = membership
        self.now_ms = now_ms
        self.config = config
        self.reason = reason
        self.records: list[Record] = []
        self.replies: list[Reply] = []
        self._soonest_ms = NEVER_MS
        """The soonest of the timers that were set."""

    def decision(self) -> Decision:
        """The changes as a decision."""
        return Decision(
            self.records, self.replies, (MembershipReplaced(self.membership, self._soonest_ms),)
        )

    def answer(self, ticket: Ticket, response: Response) -> None:
        """Send a reply."""
        self.replies.append(Reply(ticket, response))

    # Timers and states.

    def arm(self, key: TimerKey, delay_ms: int) -> None:
        """Set a timer, or set it anew behind all others."""
        due_ms = self.now_ms + max(0, delay_ms)
        self.membership.timers.arm(key, due_ms, self.now_ms)
        self._soonest_ms = min(self._soonest_ms, due_ms)

    def arm_session(self, member: Member) -> None:
        """Give a member its whole session timeout from now on."""
        self.arm(session_timer(member.member_id), member.session_timeout_ms)

    def cancel(self, key: TimerKey) -> None:
        """Forget a timer; no error if it is not set."""
        self.membership.timers.cancel(key)

    def transition_to(self, state: ClassicState) -> None:
        """Enter a state; IllegalTransitionError if the table has no such move."""
        check_transition(self.membership.state, state)
        self.membership.previous_state = self.membership.state
        self.membership.state = state
        self.membership.state_timestamp_ms = self.now_ms

    # Members.

    def put(self, member: Member) -> Member:
        """Store a member in place of the one with its id."""
        self.membership.put(member)
        return member

    def add_member(self, member: Member, protocol_type: str) -> None:
        """Add a new member; the first one decides the protocol type and leads."""
        membership = self.membership
        if self._is_initial_rebalance:
            membership.new_member_added = True
        if not membership.members:
            membership.protocol_type = protocol_type
        if membership.leader is None:
            membership.leader = member.member_id
        self.put(member)
        membership.pending_joins.discard(member.member_id)
        self.arm(session_timer(member.member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)

    def remove_member(self, member_id: str) -> None:
        """Forget a member or a pending member; what it has parked is answered with UNKNOWN_MEMBER_ID.

        Kafka forgets a parked SyncGroup here, trusting that the connection ends. We have no connections.
        """
        membership = self.membership
        member = membership.remove(member_id)
        if member is not None and member.awaiting_join is not None:
            gone = JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "")
            self.answer(member.awaiting_join, gone)
        if member is not None and member.awaiting_sync is not None:
            self.answer(member.awaiting_sync, SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID))
        if membership.leader == member_id:
            membership.leader = min(membership.members, default=None)
        membership.pending_joins.discard(member_id)
        membership.pending_syncs.pop(member_id, None)
        self.cancel(session_timer(member_id))

    def replace_static_member(self, old: Member, new_member_id: str) -> Member:
        """Give a static member a new id; parked requests of the old id are fenced."""
        membership = self.membership
        old = self._answer_join(old, JoinGroupResponse(ErrorCode.FENCED_INSTANCE_ID, old.member_id))
        self._answer_sync(old, SyncGroupResponse(ErrorCode.FENCED_INSTANCE_ID))
        membership.remove(old.member_id)
        if membership.leader == old.member_id:
            membership.leader = new_member_id
        self.cancel(session_timer(old.member_id))
        renewed = old.replace(
            member_id=new_member_id, awaiting_join=None, awaiting_sync=None, is_new=False
        )
        self.arm_session(renewed)
        return self.put(renewed)

    # Phases.

    def rebalance_or_complete_join(self) -> None:
        """Begin a rebalance; inside a join phase, end it if all members have joined."""
        if self.membership.state is ClassicState.PREPARING_REBALANCE:
            self.maybe_complete_join()
        else:
            self.prepare_rebalance()

    def prepare_rebalance(self) -> None:
        """Enter the join phase. A group that was Empty waits for more members first (KIP-134)."""
        membership = self.membership
        if membership.state is ClassicState.COMPLETING_REBALANCE:
            self._abandon_syncs()
        membership.pending_syncs.clear()
        self.cancel(SYNC_TIMER)
        if membership.state is ClassicState.EMPTY:
            delay_ms = self.config.group_initial_rebalance_delay_ms
            membership.initial_delay_left_ms = max(membership.rebalance_timeout_ms - delay_ms, 0)
            self.arm(JOIN_TIMER, delay_ms)
            self.transition_to(ClassicState.PREPARING_REBALANCE)
            return
        self.transition_to(ClassicState.PREPARING_REBALANCE)
        if membership.has_all_members_joined:
            self.complete_join()
        else:
            self.arm(JOIN_TIMER, membership.rebalance_timeout_ms)

    def maybe_complete_join(self) -> None:
        """End the join phase if all have joined; an initial rebalance always waits for its delay."""
        membership = self.membership
        if membership.state is not ClassicState.PREPARING_REBALANCE:
            return
        if membership.has_all_members_joined and not self._is_initial_rebalance:
            self.complete_join()
            return
        wait_ms = wait_for_others(self._before, membership, self.now_ms)
        if wait_ms is not None:
            self.arm(JOIN_TIMER, wait_ms)

    def join_timer_fired(self, delay_ms: int) -> None:
        """The join phase has lasted `delay_ms`: extend an initial delay that brought new members, or end it."""
        membership = self.membership
        left_ms = membership.initial_delay_left_ms
        if left_ms and membership.new_member_added:
            membership.new_member_added = False
            membership.initial_delay_left_ms = max(left_ms - delay_ms, 0)
            self.arm(JOIN_TIMER, min(self.config.group_initial_rebalance_delay_ms, left_ms))
        else:
            self.complete_join()

    def complete_join(self) -> None:
        """End the join phase: dynamic members that did not come are out, static ones are kept (KIP-345)."""
        membership = self.membership
        self.cancel(JOIN_TIMER)
        membership.initial_delay_left_ms = None
        for member in [membership.members[member_id] for member_id in sorted(membership.members)]:
            if member.awaiting_join is None and member.group_instance_id is None:
                self.remove_member(member.member_id)
        if membership.members and not membership.awaiting_joins:
            self.arm(JOIN_TIMER, wait_for_anybody(membership.rebalance_timeout_ms))
            return
        membership.generation += 1
        membership.pending_syncs.clear()
        if membership.members:
            self._begin_generation()
        else:
            self._become_empty()

    def _become_empty(self) -> None:
        membership = self.membership
        membership.protocol = None
        membership.subscribed_topics = subscription_of_members(membership)
        self.transition_to(ClassicState.EMPTY)
        self.write_group({})

    def _begin_generation(self) -> None:
        membership = self.membership
        joined = membership.awaiting_joins
        if membership.leader not in joined:
            membership.leader = joined[0]
        membership.protocol = membership.select_protocol()
        membership.subscribed_topics = subscription_of_members(membership)
        self.transition_to(ClassicState.COMPLETING_REBALANCE)
        for member_id in sorted(membership.members):
            member = self._answer_join(
                membership.members[member_id], join_answer(membership, member_id)
            )
            self.arm_session(member)
            self.put(member.replace(is_new=False))
            membership.pending_syncs[member_id] = None
        self.arm(SYNC_TIMER, membership.rebalance_timeout_ms)

    def complete_sync(self, assignments: Mapping[str, bytes]) -> None:
        """Take the leader's assignment, log the generation and answer every parked SyncGroup."""
        membership = self.membership
        self.write_group(assignments)
        for member_id in sorted(membership.members):
            member = self.put(
                membership.members[member_id].replace(assignment=assignments.get(member_id, b""))
            )
            self._answer_sync(member, sync_answer(membership, member))
        self.transition_to(ClassicState.STABLE)

    def write_group(self, assignments: Mapping[str, bytes]) -> None:
        """Log the group as it is, with these assignments by member id."""
        self.records.append(GroupRecord(metadata_of(self.membership, assignments), self.reason))

    # Pieces.

    @property
    def _is_initial_rebalance(self) -> bool:
        membership = self.membership
        return (
            membership.state is ClassicState.PREPARING_REBALANCE
            and membership.previous_state is ClassicState.EMPTY
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
        for member_id in sorted(self.membership.members):
            member = self.put(self.membership.members[member_id].replace(assignment=b""))
            self._answer_sync(member, refusal)
