"""Wrong rules of groups: rebalances, refusals, transactions."""

from __future__ import annotations

from tests.mutations.flip import Flip

REBALANCES = (
    Flip(
        "a new member does not extend the initial delay",
        "classic/rebalance.py",
        "membership.new_member_added = True",
        "membership.new_member_added = False",
    ),
    Flip(
        "the initial delay is extended beyond the rebalance timeout",
        "classic/rebalance.py",
        "max(membership.rebalance_timeout_ms - delay_ms, 0)",
        "membership.rebalance_timeout_ms",
    ),
    Flip(
        "the initial delay ends when all have joined",
        "classic/rebalance.py",
        "if membership.has_all_members_joined and not self._is_initial_rebalance:",
        "if membership.has_all_members_joined:",
    ),
    Flip(
        "who comes to a short join phase waits for those who look only now and then",
        "classic/rebalance.py",
        "return timeout_ms - (now_ms - timer.armed_ms) % timeout_ms if timeout_ms > 0 else 0",
        "return None",
    ),
    Flip(
        "a join phase that all have left counts as begun again",
        "classic/rebalance.py",
        "    if not before.members or before.initial_delay_left_ms is not None:\n        return False\n",
        "",
    ),
    Flip(
        "the join phase has no end",
        "classic/rebalance.py",
        "            self.arm(JOIN_TIMER, membership.rebalance_timeout_ms)\n",
        "            pass\n",
    ),
    Flip(
        "the sync phase has no end",
        "classic/rebalance.py",
        "        self.arm(SYNC_TIMER, membership.rebalance_timeout_ms)\n",
        "",
    ),
    Flip(
        "the sync timer outlives the phase",
        "handlers/sync_group.py",
        "rebalance.cancel(SYNC_TIMER)",
        "pass",
    ),
    Flip(
        "the quickest member sets the rebalance timeout",
        "model/classic_group.py",
        "return max(self.index.rebalance_timeouts_ms",
        "return min(self.index.rebalance_timeouts_ms",
    ),
    Flip(
        "a static member that did not join is dropped",
        "classic/rebalance.py",
        "if member.awaiting_join is None and member.group_instance_id is None:",
        "if member.awaiting_join is None:",
    ),
    Flip(
        "a leader that did not join leads on",
        "classic/rebalance.py",
        "if membership.leader not in joined:",
        "if membership.leader is None:",
    ),
    Flip(
        "a static leader that comes back leads no more",
        "classic/rebalance.py",
        "            membership.leader = new_member_id\n",
        "            pass\n",
    ),
    Flip(
        "a static member that comes back with another protocol causes no rebalance",
        "handlers/join_group.py",
        "case ClassicState.STABLE if membership.select_protocol() == membership.protocol:",
        "case ClassicState.STABLE:",
    ),
    Flip(
        "a static leader that comes back hears that it leads (KAFKA-13435)",
        "handlers/join_group.py",
        'leader=previous_leader or ""',
        'leader=rebalance.membership.leader or ""',
    ),
    Flip(
        "a member that came back stays pending",
        "classic/rebalance.py",
        "        membership.pending_joins.discard(member.member_id)\n",
        "",
    ),
    Flip(
        "a leader that joins again is sent away",
        "handlers/join_group.py",
        "and unchanged and not is_leader",
        "and unchanged",
    ),
    Flip(
        "any sync ends the sync phase",
        "handlers/sync_group.py",
        "if rebalance.membership.leader == member.member_id:",
        "if rebalance.membership.leader is not None:",
    ),
    Flip(
        "syncs stay parked when a rebalance begins",
        "classic/rebalance.py",
        "            self._abandon_syncs()\n",
        "            pass\n",
    ),
    Flip(
        "a removed member's join is never answered",
        "classic/rebalance.py",
        "            self.answer(member.awaiting_join, gone)\n",
        "            pass\n",
    ),
    Flip(
        "members that have nothing in common",
        "model/classic_group.py",
        "and not names.isdisjoint(self.common_protocols())",
        "and bool(names)",
    ),
    Flip(
        "one member more than group.max.size",
        "handlers/join_group.py",
        "len(membership.members) < group_max_size",
        "len(membership.members) <= group_max_size",
    ),
    Flip(
        "a leave causes no rebalance",
        "handlers/leave_group.py",
        "rebalance.prepare_rebalance()",
        "pass",
    ),
    Flip(
        "a pending member cannot leave",
        "handlers/leave_group.py",
        "if identity.member_id not in membership.pending_joins:",
        "if identity.member_id:",
    ),
    Flip(
        "who has synced still owes a SyncGroup",
        "handlers/sync_group.py",
        "    rebalance.membership.pending_syncs.pop(member.member_id, None)\n",
        "",
    ),
    Flip(
        "the generation of a group that became Empty stays",
        "classic/rebalance.py",
        "        membership.generation += 1\n",
        "        membership.generation += 1 if membership.members else 0\n",
    ),
)

REFUSALS = (
    Flip(
        "fenced and unknown are swapped",
        "model/classic_group.py",
        "if existing is not None and existing != member_id:\n"
        "                raise CoordinatorError(ErrorCode.FENCED_INSTANCE_ID)",
        "if existing is not None and existing != member_id:\n"
        "                raise CoordinatorError(ErrorCode.UNKNOWN_MEMBER_ID)",
    ),
    Flip(
        "a sync of another generation is fine",
        "handlers/sync_group.py",
        "if request.generation != membership.generation:",
        "if request.generation is None:",
    ),
    Flip(
        "a commit of another generation is fine",
        "handlers/offset_commit.py",
        "if request.generation != membership.generation:",
        "if request.generation is None:",
    ),
    Flip(
        "a commit in the sync phase is fine",
        "handlers/offset_commit.py",
        "if membership.state is ClassicState.COMPLETING_REBALANCE:",
        "if membership.state is ClassicState.DEAD:",
    ),
    Flip(
        "a commit to an unknown group: the two errors are swapped",
        "offsets/committing.py",
        "is_old = version < member_epochs_since",
        "is_old = version >= member_epochs_since",
    ),
    Flip(
        "a commit by name forgets the id of the topic",
        "offsets/committing.py",
        "topic.replace(topic_id=found.topic_id if found else None)",
        "topic.replace(topic_id=None)",
    ),
    Flip(
        "metadata of the greatest length is too long",
        "offsets/committing.py",
        "utf16_length(metadata) > longest",
        "utf16_length(metadata) >= longest",
    ),
    Flip(
        "the partition after the last one exists",
        "model/group.py",
        "0 <= partition < known.num_partitions",
        "0 <= partition <= known.num_partitions",
    ),
    Flip(
        "DeleteGroups takes a group with members",
        "handlers/delete_groups.py",
        "if not is_empty(group.membership):",
        "if False:",
    ),
    Flip(
        "the highest value of a group's setting is too high",
        "config_checks.py",
        "(highest is None or value <= highest)",
        "(highest is None or value < highest)",
    ),
    Flip(
        "a setting that is not listed unless it was given is listed always",
        "handlers/describe_configs.py",
        "return not definition.is_internal or definition.name in group.configs",
        "return True",
    ),
    Flip(
        "DeleteGroups forgets the group's tombstone",
        "handlers/delete_groups.py",
        "    records += group_tombstones(group.membership, Reason.GROUP_DELETED)\n",
        "",
    ),
    Flip(
        "OffsetDelete takes offsets of a subscribed topic",
        "handlers/offset_delete.py",
        "subscribed = membership.is_subscribed_to(name)",
        "subscribed = False",
    ),
    Flip(
        "OffsetDelete takes offsets of members that are no consumers",
        "handlers/offset_delete.py",
        "and not classic.is_of_consumers",
        "and False",
    ),
    Flip(
        "DescribeGroups 6 does not tell an unknown group",
        "handlers/describe_groups.py",
        "version < _NOT_FOUND_SINCE",
        "version <= _NOT_FOUND_SINCE",
    ),
    Flip(
        "an offset without topic id outlives its topic",
        "handlers/topic_metadata.py",
        "offset.topic_id is None or offset.topic_id in topic_ids",
        "offset.topic_id in topic_ids",
    ),
    Flip(
        "a new topic has the offsets of an old one of its name",
        "handlers/offset_fetch.py",
        "offset.topic_id not in (None, topic_id)",
        "offset.topic_id is None",
    ),
)

TRANSACTIONS = (
    Flip(
        "requireStable is ignored",
        "handlers/offset_fetch.py",
        "if request.require_stable:",
        "if False:",
    ),
    Flip(
        "an aborted transaction commits",
        "handlers/end_txn.py",
        "TransactionMarker(request.producer_id, (), Reason",
        "TransactionMarker(request.producer_id, waiting_for(group, request), Reason",
    ),
    Flip(
        "a transaction replaces an offset committed after its own",
        "offsets/pending.py",
        "if waiting.order is not None\n            and",
        "if",
    ),
    Flip(
        "a marker ends what was committed after it",
        "offsets/pending.py",
        "<= place <= marker.marker_offset",
        "<= place",
    ),
    Flip(
        "a marker leaves what was committed right before it",
        "offsets/pending.py",
        "<= place <= marker.marker_offset",
        "<= place < marker.marker_offset",
    ),
    Flip(
        "a marker ends what may have had a marker of its own before",
        "offsets/pending.py",
        "(marker.since_offset or 0) <= place",
        "0 <= place",
    ),
    Flip(
        "the next transaction takes the place of one whose marker is still to come",
        "offsets/pending.py",
        "if waiting.markers_end_offset != new.markers_end_offset",
        "if False",
    ),
    Flip(
        "a commit that comes after its marker waits",
        "offsets/pending.py",
        "if since <= last.marker_offset:",
        "if since < last.marker_offset:",
    ),
    Flip(
        "a fenced producer commits into its successor's transaction",
        "offsets/pending.py",
        "epoch < newest",
        "epoch < 0",
    ),
    Flip(
        "what a fenced producer left behind counts with its successor's",
        "offsets/pending.py",
        "and len(epochs) > 1",
        "and False",
    ),
    Flip(
        "an earlier marker that is told again hides the last one",
        "offsets/pending.py",
        "max(known, marker, key=lambda each: each.marker_offset)",
        "marker",
    ),
    Flip(
        "a commit outside transactions does not outdo what waits",
        "replay.py",
        "    if group.pending:\n        pending.supersede(group, record)\n",
        "",
    ),
    Flip(
        "the older of two transactions replaces the newer one",
        "offsets/pending.py",
        "(each.order or 0) < order",
        "(each.order or 0) > order",
    ),
    Flip(
        "a transactional commit of another generation is fine",
        "handlers/txn_offset_commit.py",
        "if request.generation != membership.generation:",
        "if request.generation is None:",
    ),
    Flip(
        "a producer without epoch commits",
        "handlers/txn_offset_commit.py",
        "request.producer_epoch != _NO_EPOCH",
        "True",
    ),
    Flip(
        "a transactional commit knows member epochs a version late",
        "model/requests.py",
        "TXN_MEMBER_EPOCHS_SINCE = 6",
        "TXN_MEMBER_EPOCHS_SINCE = 7",
    ),
    Flip(
        "a transactional commit goes by topic id a version early",
        "model/requests.py",
        "TXN_TOPIC_IDS_SINCE = 6",
        "TXN_TOPIC_IDS_SINCE = 5",
    ),
    Flip(
        "a transactional commit of a classic member is stale",
        "consumer/validation.py",
        "_stale(member) if knows_epochs else",
        "ErrorCode.STALE_MEMBER_EPOCH if knows_epochs else",
    ),
    Flip(
        "a transactional commit needs a member",
        "handlers/txn_offset_commit.py",
        "(anonymous or membership.state is ClassicState.EMPTY)",
        "membership.state is ClassicState.EMPTY",
    ),
    Flip(
        "DeleteGroups forgets what open transactions hold",
        "handlers/delete_groups.py",
        "sorted(committed | group.pending.keys())",
        "sorted(committed)",
    ),
)
