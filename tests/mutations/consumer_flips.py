"""Rules of consumer groups (KIP-848): epochs, reconciliation, targets, patterns, timers."""

from __future__ import annotations

from tests.mutations.flip import Flip

_HEARTBEAT = "handlers/consumer_group_heartbeat.py"

EPOCHS = (
    Flip(
        "the epoch before is fine for anybody",
        _HEARTBEAT,
        "    if not is_retry or not _is_part(owned, member.current.assigned):\n",
        "    if not is_retry:\n",
    ),
    Flip(
        "a later epoch is fine",
        _HEARTBEAT,
        "    is_retry = epoch < member.epoch and epoch == member.current.previous_epoch\n",
        "    is_retry = epoch > member.epoch or epoch == member.current.previous_epoch\n",
    ),
    Flip(
        "an instance that is there is released",
        _HEARTBEAT,
        "    if existing.epoch != STATIC_LEFT_EPOCH and not existing.uses_classic_protocol:\n",
        "    if False:\n",
    ),
    Flip(
        "a full consumer group turns its members away",
        "consumer/validation.py",
        " and member_id not in membership.members and not is_static:",
        ":",
    ),
    Flip(
        "a full consumer group turns the copy of a static member away",
        "consumer/validation.py",
        " and not is_static:",
        ":",
    ),
    Flip(
        "the last member leaves an assignment behind that is due",
        "consumer/update.py",
        "    if len(member_ids) == len(update.membership.members):\n",
        "    if False:\n",
    ),
    Flip(
        "another assignor waits for the next rebalance",
        "consumer/member_update.py",
        "        or _changes_assignor(update, member, updated)\n",
        "",
    ),
    Flip(
        "a replaced member loses all its timers",
        "consumer/member_update.py",
        "    update.cancel(session_timer(old.member_id))\n",
        "    update.cancel_timers_of(old.member_id)\n",
    ),
    Flip(
        "a target that is given up is free at once",
        "assignors/uniform.py",
        "        for topic_id, partitions in member.given_up.items():\n            held[topic_id].append(partitions)\n",
        "",
    ),
    Flip(
        "a new instance id has the target of the former one",
        "consumer/member_update.py",
        "membership.static_members.get(instance_id)\n",
        "membership.static_members.get(instance_id, member_id)\n",
    ),
    Flip(
        "a copy starts without the target of its place",
        "consumer/target_assignment.py",
        "    targets = targets_before(membership, updated)\n",
        "    targets = membership.targets\n",
    ),
    Flip(
        "a JoinGroup counts a tie of assignors anew",
        "consumer/member_update.py",
        "    if new.uses_classic_protocol:\n        return False\n    membership, default",
        "    membership, default",
    ),
    Flip(
        "a copy's target is logged twice",
        "consumer/target_assignment.py",
        " | {updated.member_id: membership.targets[replaced_id]}\n",
        "\n",
    ),
    Flip(
        "a former instance id is kept",
        "model/consumer_group.py",
        "            self.static_members.pop(metadata.group_instance_id, None)\n",
        "            pass\n",
    ),
    Flip(
        "who leaves for a while keeps its assignment epochs",
        _HEARTBEAT,
        "dict.fromkeys(held, 0)",
        "dict(held)",
    ),
    Flip(
        "the metadata hash is compared at every heartbeat",
        "consumer/member_update.py",
        "    refreshes = must_bump or update.now_ms >= update.membership.metadata_deadline_ms\n",
        "    refreshes = True\n",
    ),
    Flip(
        "a removal does not bump the epoch",
        "consumer/update.py",
        "GroupEpoch(update.membership.epoch + 1,",
        "GroupEpoch(update.membership.epoch,",
    ),
)

RECONCILIATION = (
    Flip(
        "partitions are taken from others",
        "consumer/reconciliation.py",
        "        free = [p for p in missing if p in own or not goal.is_held(topic_id, p)]\n",
        "        free = missing\n",
    ),
    Flip(
        "a client that says nothing has nothing",
        "consumer/reconciliation.py",
        "    if owned is None:\n        return True\n",
        "    if owned is None:\n        return False\n",
    ),
    Flip(
        "a member keeps what it no longer subscribes to",
        "consumer/reconciliation.py",
        "        wanted = goal.target.get(topic_id, ()) if topic_id in goal.topic_ids else ()\n",
        "        wanted = goal.target.get(topic_id, ())\n",
    ),
    Flip(
        "what a member waits for is forgotten",
        "consumer/reconciliation.py",
        "        waits = waits or len(free) < len(missing)\n",
        "",
    ),
    Flip(
        "a member that must give back moves on to the next epoch",
        "consumer/reconciliation.py",
        "            goal.epoch if current.state is ReconciliationState.UNKNOWN else current.epoch,\n",
        "            goal.epoch,\n",
    ),
)

TARGETS = (
    Flip(
        "assignments need not wait",
        "consumer/member_update.py",
        "update.now_ms >= last_ms + interval_ms",
        "True",
    ),
    Flip(
        "the interval ends a millisecond late",
        "consumer/member_update.py",
        "update.now_ms >= last_ms + interval_ms",
        "update.now_ms > last_ms + interval_ms",
    ),
    Flip(
        "targets that stay are logged again",
        "consumer/target_assignment.py",
        "        if before.get(member_id) != target\n",
        "",
    ),
    Flip(
        "the majority does not choose the assignor",
        "consumer/target_assignment.py",
        "    return max(candidates, key=votes.__getitem__, default=default)\n",
        "    return default\n",
    ),
)

PATTERNS = (
    Flip(
        "names are sorted before they are counted out",
        _HEARTBEAT,
        "        update.subscription_order[member_id] = request.topic_names\n",
        "        pass\n",
    ),
    Flip(
        "a new answer to a pattern leaves the kind of subscription as it was told",
        "model/consumer_group.py",
        "        if resolved is not None:\n            self.former_subscription_type = self.subscription_type\n",
        "        if resolved is not None:\n",
    ),
    Flip(
        "metadata count for a new group too",
        "consumer/member_update.py",
        "    if not update.is_upgrade:\n        update.changes.append(MetadataDeadlineSet",
        "    if True:\n        update.changes.append(MetadataDeadlineSet",
    ),
    Flip(
        "new topics are found a millisecond early",
        "consumer/regexes.py",
        "    return update.now_ms > last_ms + _SHORTEST_REFRESH_INTERVAL_MS\n",
        "    return update.now_ms >= last_ms + _SHORTEST_REFRESH_INTERVAL_MS\n",
    ),
    Flip(
        "new topics are not looked for",
        "consumer/regexes.py",
        "        or version < update.group.new_topics_version\n",
        "",
    ),
    Flip(
        "what a lost subscriber's pattern matched is forgotten",
        "consumer/regexes.py",
        "    names = set(membership.topic_subscribers).union(*left)\n",
        "    names = set(membership.topic_subscribers)\n",
    ),
    Flip(
        "the table of members shrinks with the group",
        "model/consumer_group.py",
        "        self.member_room = max(self.member_room, len(self.members) + 1)\n",
        "        self.member_room = len(self.members) + 1\n",
    ),
    Flip(
        "the last subscriber leaves its pattern behind",
        "consumer/update.py",
        "if subscribers.get(regex) == number}",
        "if subscribers.get(regex) != number}",
    ),
)

CONSUMER_TIMERS = (
    Flip(
        "the rebalance timeout counts at every epoch",
        "deadlines.py",
        "    return is_rebalance and membership.rebalance_epochs.get(key.member_id) != epoch\n",
        "    return False\n",
    ),
    Flip(
        "who gives back in time is removed nevertheless",
        "consumer/member_update.py",
        "        update.cancel(TimerKey(TimerKind.REBALANCE, member_id))\n",
        "        pass\n",
    ),
    Flip(
        "a heartbeat does not keep a consumer alive",
        _HEARTBEAT,
        "    update.arm(session_timer(member_id), session_timeout_ms(group, config))\n",
        "",
    ),
)

CONSUMERS = (*EPOCHS, *RECONCILIATION, *TARGETS, *PATTERNS, *CONSUMER_TIMERS)
