"""A real broker, in real time, does what we do in these stories, and its log says what ours says."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace

import pytest

from tests.conformance.kafka.broker_coordinator import BrokerCoordinator
from tests.conformance.kafka.broker_records import timeless, without_topic_ids
from tests.conformance.kafka.coordinators import Ours
from tests.conformance.kafka.real_broker import RealBroker, real_broker
from tests.conformance.language.lines import Story
from tests.conformance.language.outcome import comparable, differences
from tests.conformance.language.transcript import Transcript, disagreements, play, script
from tests.conformance.live.for_real_broker import (
    for_real_broker,
    groups,
    mentioned_topics,
    no_longer_as_scripted,
)
from tests.conformance.stories import STORIES

pytestmark = pytest.mark.kafka

SETTINGS = {
    "group.initial.rebalance.delay.ms": "500",
    "group.consumer.assignment.interval.ms": "0",
}
"""The delay is short, but long enough for three members to come one after the other."""

TOLD = [
    "any_offset_may_be_committed",
    "commits_during_a_rebalance",
    "commits_of_all_versions",
    "commits_to_a_stable_group",
    "commits_to_an_empty_group",
    "metadata_has_a_limit_in_characters",
    "one_partition_twice_in_a_request",
    "retention_in_the_request",
    "a_fetch_of_nothing",
    "fetches_from_an_unknown_group",
    "fetches_of_all_versions",
    "a_live_group_keeps_the_offsets_of_its_topics",
    "a_live_group_of_another_kind_keeps_all_offsets",
    "an_empty_group_is_deleted_with_its_offsets",
    "an_unknown_group_is_not_deleted",
    "deletion_answers_of_all_versions",
    "only_empty_groups_are_deleted",
    "a_group_is_described_in_every_state",
    "descriptions_of_all_versions",
    "unknown_groups_are_dead",
    "who_asks_is_told_what_he_may_do",
    "a_pending_member_may_not_do_anything_else",
    "a_simple_group_turns_into_a_real_one",
    "first_member_waits_for_the_initial_delay",
    "join_answers_of_all_versions",
    "members_must_share_a_protocol",
    "session_timeouts_have_bounds",
    "a_follower_before_the_leader_waits",
    "heartbeat_answers_of_all_versions",
    "heartbeats_in_every_state",
    "sync_answers_of_all_versions",
    "sync_is_refused",
    "leave_answers_of_all_versions",
    "leaving_while_waiting",
    "several_leave_at_once",
    "a_static_leader_returns_in_version_9",
    "a_static_member_is_replaced_while_it_waits_to_sync",
    "another_protocol_for_a_static_member_rebalances",
    "the_old_id_is_fenced_everywhere",
    "a_commit_in_a_transaction_counts_when_it_is_committed",
    "all_versions_say_the_same",
    "an_aborted_transaction_leaves_what_was_there",
    "deleting_a_group_deletes_what_waits",
    "members_commit_in_any_state",
    "the_newer_of_two_commits_stays",
    "two_producers_end_in_the_other_order",
    "a_deleted_topic_takes_what_waits_for_it",
    "a_topic_that_is_made_again",
    "commits_by_topic_id",
    "commits_in_transactions_by_topic_id",
    "fetches_by_topic_id",
    "offset_deletion_is_refused",
    "topics_must_exist_where_they_are_known",
    "first_member_gets_everything",
    "second_member_waits_for_what_the_first_gives_back",
    "four_members_share_what_two_had",
    "what_is_not_given_back_stays",
    "given_back_before_it_is_told",
    "what_was_to_be_revoked_comes_back",
    "partitions_are_free_when_their_owner_is_gone",
    "the_states_of_a_group",
    "an_epoch_from_the_future_is_fenced",
    "an_old_epoch_with_partitions_of_others",
    "again_with_epoch_zero_while_revoking",
    "a_full_heartbeat_that_acknowledges",
    "a_first_heartbeat_says_all",
    "an_assignor_must_be_known",
    "the_order_of_the_checks",
    "an_instance_that_is_in_use",
    "a_static_member_gets_back_what_it_had",
    "an_instance_under_another_id",
    "a_member_commits",
    "a_commit_of_another_epoch",
    "epochs_of_partitions",
    "transactions_know_member_epochs_from_version_6_on",
    "a_topic_grows",
    "a_topic_is_made_again",
    "only_empty_consumer_groups_are_deleted",
    "a_classic_member_must_give_back",
]
"""Stories in which hardly any time passes; those that tell of topics come last, to leave the others theirs."""

TOPICS = mentioned_topics(STORIES[name] for name in TOLD)


@pytest.fixture(scope="module")
def broker(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RealBroker]:
    with real_broker(tmp_path_factory.mktemp("broker"), SETTINGS) as started:
        yield started


@pytest.mark.parametrize("name", TOLD)
def test_a_broker_tells_the_same_story(name: str, broker: RealBroker) -> None:
    story = for_real_broker(STORIES[name], TOPICS)
    ours = play(story, Ours())
    fail_with(story, no_longer_as_scripted(story, ours))

    answers, records = of_kind("response", ours), of_kind("record", ours)
    mine = [record for outputs in records.outputs for record in outputs]
    with closing(BrokerCoordinator(broker, correlations(answers))) as coordinator:
        kafka = play(story, coordinator)
        late = coordinator.late_answers()
        theirs = [
            without_topic_ids(timeless(record))
            for record in coordinator.written(groups(story), len(mine))
        ]

    fail_with(story, [*disagreements(story, kafka, answers)])
    assert late == []
    found = differences(comparable(theirs, kafka.names), comparable(mine, ours.names))
    fail_with(story, found)


def of_kind(kind: str, transcript: Transcript) -> Transcript:
    """What is told of this kind, whenever it was."""
    kept = [
        [without_topic_ids(timeless(output)) for output in outputs if output["kind"] == kind]
        for outputs in transcript.outputs
    ]
    return replace(transcript, outputs=kept)


def correlations(answers: Transcript) -> list[set[str]]:
    return [{output["correlationId"] for output in outputs} for outputs in answers.outputs]


def fail_with(story: Story, found: list[str]) -> None:
    if found:
        pytest.fail("\n".join([*script(story), "", *found]), pytrace=False)
