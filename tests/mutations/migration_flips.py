"""Wrong rules of mixed groups, of conversions between the kinds of groups, and of offsets in consumer groups."""

from __future__ import annotations

from tests.mutations.flip import Flip

CONSUMER_OFFSETS = (
    Flip(
        "a commit at an earlier epoch counts for every partition",
        "offsets/committing.py",
        "return earlier.epoch >= since",
        "return True",
    ),
    Flip(
        "what a member has yet to give back it may not commit",
        "offsets/committing.py",
        "for held in (current.assigned, current.pending_revocation):",
        "for held in (current.assigned,):",
    ),
    Flip(
        "a commit at a later epoch counts",
        "consumer/validation.py",
        "if epoch > member.epoch:",
        "if False:",
    ),
    Flip(
        "consumers may commit as before version 9",
        "consumer/validation.py",
        "version < MEMBER_EPOCHS_SINCE",
        "False",
    ),
    Flip(
        "a fetch at another epoch is answered",
        "consumer/validation.py",
        "if epoch != member.epoch:",
        "if epoch > member.epoch:",
    ),
    Flip(
        "offsets of subscribed topics expire in a consumer group",
        "offsets/expiration.py",
        'ExpirationRule("commit", membership.subscribed_topics())',
        'ExpirationRule("commit")',
    ),
)

CONVERSIONS = (
    Flip(
        "custom assignors are no obstacle to an upgrade",
        "migration/upgrade.py",
        "if assignment.user_data:",
        "if False:",
    ),
    Flip(
        "an upgrade is possible under any policy",
        "migration/upgrade.py",
        "if not allows_upgrade(config):",
        "if False:",
    ),
    Flip(
        "sessions go on through an upgrade without a timer",
        "migration/upgrade.py",
        "return [*kept, *sessions]",
        "return kept",
    ),
    Flip(
        "a group turns classic while a consumer is left",
        "migration/downgrade.py",
        " and speaking_classic == staying",
        "",
    ),
    Flip(
        "a group that is empty turns classic",
        "migration/downgrade.py",
        "0 < staying <=",
        "0 <= staying <=",
    ),
    Flip(
        "nobody rebalances after a downgrade",
        "migration/downgrade.py",
        "    if must_rebalance:\n        rebalance.prepare_rebalance()\n",
        "",
    ),
    Flip(
        "the timer of a join phase ends with an upgrade",
        "model/timers.py",
        "KINDS_LEFT_BY_CONVERSIONS = (TimerKind.JOIN_PHASE, *CLASSIC_MEMBER_KINDS)",
        "KINDS_LEFT_BY_CONVERSIONS = CLASSIC_MEMBER_KINDS",
    ),
    Flip(
        "a replaced member's target is lost in a downgrade",
        "migration/downgrade.py",
        "targets[updated.member_id] = membership.target_of(replaced.member_id)",
        "targets[updated.member_id] = {}",
    ),
)

MIXED = (
    Flip(
        "a classic member is not told of partitions to give back",
        "migration/classic_join.py",
        "case ReconciliationState.UNREVOKED_PARTITIONS:\n            return True",
        "case ReconciliationState.UNREVOKED_PARTITIONS:\n            return False",
    ),
    Flip(
        "a classic member is told too early that its partitions are free",
        "migration/classic_join.py",
        "return not _waits_for_others(membership, member)",
        "return True",
    ),
    Flip(
        "every heartbeat gives a member more time to join again",
        "migration/classic_join.py",
        "if key not in update.membership.timers:",
        "if True:",
    ),
    Flip(
        "nobody waits for a SyncGroup",
        "migration/classic_join.py",
        "    update.arm(sync_timer, max(0, request.rebalance_timeout_ms))\n",
        "",
    ),
    Flip(
        "an unreadable subscription is a fault of the server",
        "migration/classic_join.py",
        "CoordinatorError(ErrorCode.INCONSISTENT_GROUP_PROTOCOL) from None",
        "CoordinatorError(ErrorCode.UNKNOWN_SERVER_ERROR) from None",
    ),
    Flip(
        "a length may point beyond the end",
        "../binary/decoder_source.py",
        'yield "if e > z: raise too_short(n, z - p)"',
        'yield ""',
    ),
    Flip(
        "members without a common protocol share a group",
        "migration/classic_join.py",
        "has_common = any(counts.get(protocol.name, 0) == of_all for protocol in request.protocols)",
        "has_common = True",
    ),
    Flip(
        "SyncGroup hides a new target",
        "migration/classic_join.py",
        "is_behind = membership.assignment_epoch > member.epoch",
        "is_behind = False",
    ),
)
