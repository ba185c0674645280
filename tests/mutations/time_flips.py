"""Wrong rules of time: the clock, expiration, sessions."""

from __future__ import annotations

from tests.mutations.flip import Flip

CLOCK = (
    Flip(
        "a timer fires a moment late",
        "classic/rebalance.py",
        "due_ms = self.now_ms + max(0, delay_ms)\n",
        "due_ms = self.now_ms + max(0, delay_ms) + 1\n",
    ),
    Flip(
        "a deadline fires when it is seen, not when it is due",
        "coordinator.py",
        "max(deadline.due_ms, group.clock_ms)",
        "to_ms",
    ),
    Flip(
        "a timer set since the last sweep fires before the next one",
        "deadlines.py",
        "sweep_ms <= timer_swept_ms",
        "sweep_ms < timer_swept_ms",
    ),
    Flip(
        "a timer set before the last sweep fires after the next one",
        "deadlines.py",
        "timer.due_ms - 1 if before_sweep else timer.due_ms",
        "timer.due_ms",
    ),
    Flip(
        "a timer set anew keeps its old place",
        "model/timers.py",
        "        self.by_text.pop(text, None)\n        self",
        "        self",
    ),
    Flip(
        "a timer that was set while the group stays as it was is not looked for",
        "replay.py",
        "return change.soonest_timer_ms if ages_as_before else 0",
        "return NEVER_MS if ages_as_before else 0",
    ),
    Flip(
        "a group whose offsets age otherwise now is not looked at",
        "replay.py",
        "return change.soonest_timer_ms if ages_as_before else 0",
        "return change.soonest_timer_ms",
    ),
    Flip(
        "the oldest offset counts after it was committed anew",
        "model/topic_offsets.py",
        "if old is not None and self._is_first(old):",
        "if False:",
    ),
    Flip(
        "a member that was silent of its own will is forgiven",
        "deadlines.py",
        "if not outage.was_heard or outage.first_asked_ms <= timer.armed_ms:",
        "if True:",
    ),
    Flip(
        "a session that was over when the outage began is given again",
        "deadlines.py",
        "outage.from_ms >= begin_ms + length_ms",
        "outage.from_ms > begin_ms + length_ms",
    ),
    Flip(
        "after an outage a member has what was left of its time",
        "deadlines.py",
        "            begin_ms = outage.to_ms",
        "            begin_ms += outage.to_ms - outage.from_ms",
    ),
    Flip(
        "late answers put a timer off again and again",
        "deadlines.py",
        "outage.first_asked_ms <= timer.armed_ms",
        "outage.first_asked_ms <= begin_ms",
    ),
    Flip(
        "each batch of a backlog is a wait of its own",
        "deadlines.py",
        "and outage.first_asked_ms < known.from_ms",
        "and outage.first_asked_ms < known.from_ms < 0",
    ),
)

EXPIRATION = (
    Flip(
        "an offset expires after its retention, not at its end",
        "offsets/expiration.py",
        "due_ms <= now_ms",
        "due_ms < now_ms",
    ),
    Flip(
        "an Empty group's offsets age by their commits",
        "offsets/expiration.py",
        "if self.empty_since_ms is None:",
        "if True:",
    ),
    Flip(
        "a subscribed topic is not protected",
        "offsets/expiration.py",
        'return self.base == "never" or topic in self.protected_topics',
        'return self.base == "never"',
    ),
    Flip(
        "an explicit expire timestamp is forgotten",
        "offsets/expiration.py",
        "offset.commit_timestamp_ms + retention_ms if expire_ms is None else expire_ms",
        "offset.commit_timestamp_ms + retention_ms",
    ),
    Flip(
        "offsets expire during a rebalance",
        "offsets/expiration.py",
        "if readable and consumers and state is ClassicState.STABLE:",
        "if readable and consumers:",
    ),
    Flip(
        "a sweep off the grid",
        "offsets/expiration.py",
        "return -(-time_ms // interval_ms) * interval_ms",
        "return time_ms",
    ),
    Flip(
        "a sweep goes by the coordinator's retention, not by the group's own",
        "offsets/expiration.py",
        "rule, retention_ms = rule_of(membership), offsets_retention_ms(group, config.retention_ms)",
        "rule, retention_ms = rule_of(membership), config.retention_ms",
    ),
    Flip(
        "a deadline goes by the coordinator's retention, not by the group's own",
        "offsets/expiration.py",
        "    retention_ms = offsets_retention_ms(group, config.retention_ms)\n",
        "    retention_ms = config.retention_ms\n",
    ),
    Flip(
        "after a commit a group wakes by the coordinator's retention",
        "replay.py",
        "offsets_retention_ms(group, config.retention_ms)",
        "config.retention_ms",
    ),
    Flip(
        "a setting leaves the deadlines where they are",
        "replay.py",
        "_WITHOUT_DEADLINE = (CurrentRecord,",
        "_WITHOUT_DEADLINE = (ConfigRecord, CurrentRecord,",
    ),
    Flip(
        "a group's retention only ever makes it shorter",
        "offsets/expiration.py",
        "return otherwise_ms if value is None else int(value)",
        "return otherwise_ms if value is None else min(otherwise_ms, int(value))",
    ),
    Flip(
        "a group's retention cannot be taken back by -1",
        "group_configs.py",
        '    taken_back_by="-1",\n',
        "",
    ),
    Flip(
        "-1 is kept as a retention",
        "handlers/alter_configs.py",
        "return None if value == definition.taken_back_by else value",
        "return value",
    ),
    Flip(
        "a retention that no broker has is among the settings that Kafka lists",
        "handlers/describe_configs.py",
        "    if definition is OFFSETS_RETENTION:\n",
        "    if False:\n",
    ),
    Flip(
        "an open transaction does not keep an offset",
        "offsets/expiration.py",
        "due_ms <= now_ms and not waits",
        "due_ms <= now_ms",
    ),
    Flip(
        "an open transaction does not keep the group",
        "offsets/expiration.py",
        "if not remaining and not group.pending and",
        "if not remaining and",
    ),
    Flip(
        "no tombstone for an expired group",
        "offsets/expiration.py",
        "records += group_tombstones(membership, Reason.GROUP_EXPIRED)",
        "pass",
    ),
    Flip(
        "a subscription that cannot be read protects nothing",
        "classic/generation.py",
        "if subscribed is None:\n            return None",
        "if subscribed is None:\n            continue",
    ),
    Flip(
        "a group forgets when it became Empty",
        "classic/rebalance.py",
        "        self.membership.state_timestamp_ms = self.now_ms\n",
        "",
    ),
    Flip(
        "a retention of 0 ms counts as not set",
        "model/config.py",
        "self.offsets_retention_ms >= 0",
        "self.offsets_retention_ms > 0",
    ),
)

SESSIONS = (
    Flip(
        "a heartbeat does not extend the session",
        "handlers/heartbeat.py",
        ", (SessionRenewed(request.member_id),))",
        ")",
    ),
    Flip(
        "a heartbeat of another generation is fine",
        "handlers/heartbeat.py",
        "if request.generation != membership.generation:",
        "if request.generation is None:",
    ),
    Flip(
        "a heartbeat does not tell of a rebalance",
        "handlers/heartbeat.py",
        "_REJOIN if rebalancing else _ALIVE",
        "_ALIVE",
    ),
    Flip(
        "a session that begins anew ends as it would have before",
        "replay.py",
        "due_ms = now_ms + membership.members[member_id].session_timeout_ms",
        "due_ms = membership.timers[key].due_ms",
    ),
    Flip(
        "a commit is no sign of life",
        "handlers/offset_commit.py",
        "        return (SessionRenewed(request.member_id),)\n",
        "        return ()\n",
    ),
    Flip(
        "a new generation does not extend the sessions",
        "classic/rebalance.py",
        "            self.arm_session(member)\n            self.put(member.replace(is_new=False))",
        "            self.put(member.replace(is_new=False))",
    ),
    Flip(
        "an answered sync does not extend the session",
        "classic/rebalance.py",
        "self.arm_session(self.put(member.replace(awaiting_sync=None)))",
        "self.put(member.replace(awaiting_sync=None))",
    ),
    Flip(
        "a parked member may time out",
        "deadlines.py",
        "member.is_waiting and not member.is_new",
        "False",
    ),
    Flip(
        "a new member never times out while it waits",
        "deadlines.py",
        "member.is_waiting and not member.is_new",
        "member.is_waiting",
    ),
    Flip(
        "a pending member is not timed out",
        "handlers/join_group.py",
        "    rebalance.arm(session_timer(member_id), request.session_timeout_ms)\n",
        "",
    ),
    Flip(
        "the shortest session is refused",
        "handlers/join_group.py",
        "least_ms <= request.session_timeout_ms",
        "least_ms < request.session_timeout_ms",
    ),
    Flip(
        "the longest session is refused",
        "handlers/join_group.py",
        "request.session_timeout_ms <= most_ms",
        "request.session_timeout_ms < most_ms",
    ),
)
