"""The rebalance of a classic group: its phases, with the records and responses of each.

A rebalance has two phases. Each is a state with a timer of the group, and lasts at most the longest rebalance timeout:

1. `prepare_rebalance` (prepareRebalance) begins the join phase, PreparingRebalance, in which JoinGroups are pending. A group that
   was Empty waits longer while new members join (KIP-134, tryCompleteInitialRebalanceElseSchedule).
2. `complete_join` (completeClassicGroupJoin) ends it and begins the sync phase, CompletingRebalance, or the group becomes Empty.
3. `complete_sync` (setAndPropagateAssignment) ends it with the leader's assignment. Only now is the generation logged. Members
   without a SyncGroup in time are removed, which begins the next rebalance (expirePendingSync).

If only static members are left and none of them has joined, Kafka checks again after each rebalance timeout, even if it is 0 ms.
Nothing changes until a member joins; then the phase lasts until the next check. Most of the checks between are left out here.
Source: GroupMetadataManager in Kafka 4.4. Kafka iterates over hash maps of members; here they are in the order of their ids.
Stories: stories/classic/rebalancing.py, stories/classic/static_rebalances.py.
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
from group_coordinator.core.model.classic_member import (
    ClassicMember,
    ClassicState,
    ReplyAddress,
    check_transition,
)
from group_coordinator.core.model.config import NEW_MEMBER_JOIN_TIMEOUT_MS, CoordinatorConfig
from group_coordinator.core.model.errors import ErrorCode
from group_coordinator.core.model.records import GroupRecord, Reason, Record
from group_coordinator.core.model.responses import (
    JoinGroupResponse,
    Reply,
    Response,
    SyncGroupResponse,
)
from group_coordinator.core.model.timers import (
    JOIN_TIMER,
    NEVER_MS,
    SYNC_TIMER,
    TimerKey,
    session_timer,
)

_SHORTEST_WAIT_MS = 1_000


def wait_for_anybody(rebalance_timeout_ms: int) -> int:
    """Return the milliseconds until the next check without any joined member: a multiple of Kafka's interval."""
    # A timeout of 0 ms would make the timer fire without end.
    timeout_ms = max(rebalance_timeout_ms, 1)
    return -(-_SHORTEST_WAIT_MS // timeout_ms) * timeout_ms


def wait_for_others(before: ClassicGroup, membership: ClassicGroup, now_ms: int) -> int | None:
    """Return the milliseconds until Kafka's next check after the first member has joined; None: the timer decides.

    `before` is the group before the join, which may have changed the longest rebalance timeout.
    """
    timer = membership.timers.get(JOIN_TIMER)
    # A longer wait is a usual join phase, in which Kafka does not check in between.
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
    # The initial delay is over, only static members are left, and none of them has joined.
    if not before.members or before.initial_delay_left_ms is not None:
        return False
    return all(
        member.group_instance_id is not None and member.awaiting_join is None
        for member in before.members.values()
    )


class Rebalance:
    """A changed copy of a classic group, with the records and responses of the change."""

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
        """The earliest deadline of the timers that were set."""

    def decision(self) -> Decision:
        return Decision(
            self.records, self.replies, (MembershipReplaced(self.membership, self._soonest_ms),)
        )

    def answer(self, ticket: ReplyAddress, response: Response) -> None:
        self.replies.append(Reply(ticket, response))

    # Timers and states.

    def arm(self, key: TimerKey, delay_ms: int) -> None:
        """Set a timer. A timer that is set again fires after all others of its millisecond."""
        due_ms = self.now_ms + max(0, delay_ms)
        self.membership.timers.arm(key, due_ms, self.now_ms)
        self._soonest_ms = min(self._soonest_ms, due_ms)

    def arm_session(self, member: ClassicMember) -> None:
        """Start a member's session timeout again."""
        self.arm(session_timer(member.member_id), member.session_timeout_ms)

    def cancel(self, key: TimerKey) -> None:
        self.membership.timers.cancel(key)

    def transition_to(self, state: ClassicState) -> None:
        """Enter a state. Raises IllegalTransitionError for a transition that the table does not have."""
        check_transition(self.membership.state, state)
        # It shows the initial rebalance: only a group that was Empty waits for its delay.
        self.membership.previous_state = self.membership.state
        self.membership.state = state
        self.membership.state_timestamp_ms = self.now_ms

    # Members.

    def put(self, member: ClassicMember) -> ClassicMember:
        """Store a member; it replaces the member with its id."""
        self.membership.put(member)
        return member

    def add_member(self, member: ClassicMember, protocol_type: str) -> None:
        """Add a new member. The first member decides the protocol type and becomes leader."""
        membership = self.membership
        # A new member extends the initial delay (KIP-134).
        if self._is_initial_rebalance:
            membership.new_member_added = True
        if not membership.members:
            membership.protocol_type = protocol_type
        if membership.leader is None:
            membership.leader = member.member_id
        self.put(member)
        membership.pending_joins.discard(member.member_id)
        # A new member has no id yet and cannot send heartbeats: Kafka gives it five minutes.
        self.arm(session_timer(member.member_id), NEW_MEMBER_JOIN_TIMEOUT_MS)

    def remove_member(self, member_id: str) -> None:
        """Remove a member or a pending member. Its pending requests get UNKNOWN_MEMBER_ID.

        Kafka drops a pending SyncGroup here, as the connection has ended. There are no connections here.
        """
        membership = self.membership
        member = membership.remove(member_id)
        if member is not None and member.awaiting_join is not None:
            gone = JoinGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID, "")
            self.answer(member.awaiting_join, gone)
        if member is not None and member.awaiting_sync is not None:
            self.answer(member.awaiting_sync, SyncGroupResponse(ErrorCode.UNKNOWN_MEMBER_ID))
        if membership.leader == member_id:
            # Kafka takes the next of its hash map; the lowest id is the same in every replay.
            membership.leader = min(membership.members, default=None)
        membership.pending_joins.discard(member_id)
        membership.pending_syncs.pop(member_id, None)
        self.cancel(session_timer(member_id))

    def replace_static_member(self, old: ClassicMember, new_member_id: str) -> ClassicMember:
        """Give a static member a new id. Pending requests of the old id are fenced."""
        membership = self.membership
        old = self._answer_join(old, JoinGroupResponse(ErrorCode.FENCED_INSTANCE_ID, old.member_id))
        # A client that is replaced must stop: two clients would use the same instance id.
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
        """Begin a rebalance, or end a join phase if all members have joined."""
        if self.membership.state is ClassicState.PREPARING_REBALANCE:
            self.maybe_complete_join()
        else:
            self.prepare_rebalance()

    def prepare_rebalance(self) -> None:
        """Enter the join phase. A group that was Empty first waits for more members (KIP-134)."""
        membership = self.membership
        if membership.state is ClassicState.COMPLETING_REBALANCE:
            self._abandon_syncs()
        membership.pending_syncs.clear()
        self.cancel(SYNC_TIMER)
        if membership.state is ClassicState.EMPTY:
            delay_ms = self.config.group_initial_rebalance_delay_ms
            # The delay may be extended up to the rebalance timeout in all (KIP-134).
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
        """End the join phase if all members have joined. An initial rebalance always waits for its delay."""
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
        """Extend an initial delay in which new members joined, or end the join phase. It has lasted `delay_ms`."""
        membership = self.membership
        left_ms = membership.initial_delay_left_ms
        if left_ms and membership.new_member_added:
            membership.new_member_added = False
            membership.initial_delay_left_ms = max(left_ms - delay_ms, 0)
            # The last extension may be shorter than the delay.
            self.arm(JOIN_TIMER, min(self.config.group_initial_rebalance_delay_ms, left_ms))
        else:
            self.complete_join()

    def complete_join(self) -> None:
        """End the join phase. Dynamic members that did not join are removed, static members are kept (KIP-345)."""
        membership = self.membership
        self.cancel(JOIN_TIMER)
        membership.initial_delay_left_ms = None
        # Kafka iterates over a hash map; the order of ids makes a replay equal.
        for member in [membership.members[member_id] for member_id in sorted(membership.members)]:
            if member.awaiting_join is None and member.group_instance_id is None:
                self.remove_member(member.member_id)
        # Static members alone: none of them can lead, so the phase is extended.
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
        # The subscriptions protect offsets from expiration (KIP-496).
        membership.subscribed_topics = subscription_of_members(membership)
        self.transition_to(ClassicState.EMPTY)
        self.write_group({})

    def _begin_generation(self) -> None:
        membership = self.membership
        # Kafka elects a new leader only if the old one did not join.
        joined = membership.awaiting_joins
        if membership.leader not in joined:
            membership.leader = joined[0]
        membership.protocol = membership.select_protocol()
        membership.subscribed_topics = subscription_of_members(membership)
        self.transition_to(ClassicState.COMPLETING_REBALANCE)
        for member_id in sorted(membership.members):
            # The session starts again: a waiting member could not send heartbeats.
            member = self._answer_join(
                membership.members[member_id], join_answer(membership, member_id)
            )
            self.arm_session(member)
            self.put(member.replace(is_new=False))
            membership.pending_syncs[member_id] = None
        # A member without SyncGroup until then is removed.
        self.arm(SYNC_TIMER, membership.rebalance_timeout_ms)

    def complete_sync(self, assignments: Mapping[str, bytes]) -> None:
        """Store the leader's assignment, log the generation and answer all pending SyncGroups."""
        membership = self.membership
        self.write_group(assignments)
        for member_id in sorted(membership.members):
            member = self.put(
                membership.members[member_id].replace(assignment=assignments.get(member_id, b""))
            )
            self._answer_sync(member, sync_answer(membership, member))
        self.transition_to(ClassicState.STABLE)

    def write_group(self, assignments: Mapping[str, bytes]) -> None:
        """Log the group in its present state, with these assignments by member id."""
        self.records.append(GroupRecord(metadata_of(self.membership, assignments), self.reason))

    # Pieces.

    @property
    def _is_initial_rebalance(self) -> bool:
        membership = self.membership
        return (
            membership.state is ClassicState.PREPARING_REBALANCE
            and membership.previous_state is ClassicState.EMPTY
        )

    def _answer_join(self, member: ClassicMember, response: JoinGroupResponse) -> ClassicMember:
        if member.awaiting_join is None:
            return member
        self.answer(member.awaiting_join, response)
        return self.put(member.replace(awaiting_join=None))

    def _answer_sync(self, member: ClassicMember, response: SyncGroupResponse) -> None:
        if member.awaiting_sync is not None:
            self.answer(member.awaiting_sync, response)
            # A session that ended while the member waited was ignored, so it must start again.
            self.arm_session(self.put(member.replace(awaiting_sync=None)))

    def _abandon_syncs(self) -> None:
        error_response = SyncGroupResponse(ErrorCode.REBALANCE_IN_PROGRESS)
        for member_id in sorted(self.membership.members):
            # The old assignment must not be sent to a member that joins the next generation.
            member = self.put(self.membership.members[member_id].replace(assignment=b""))
            self._answer_sync(member, error_response)
