"""A batch that was planned and not done: with what it is ended, and when it is planned anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

import group_coordinator
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.batch_settings import (
    EmptyBatches,
    StatesRead,
    pin,
    settings_before_ticks,
    settings_of_open_batch,
)
from group_coordinator.streaming.checkpoint.layout import coordinator_folder
from group_coordinator.streaming.checkpoint.ownership import CheckpointError

pytestmark = pytest.mark.spark


def with_retention(settings: Settings, minutes: int) -> Settings:
    coordinator = replace(settings.coordinator, offsets_retention_minutes=minutes)
    return replace(settings, coordinator=coordinator)


def leave(spark: SparkSession, settings: Settings, *, planned: int, done: int) -> None:
    folder = coordinator_folder(spark, settings.job)
    folder.write(f"offsets/{planned}", "")
    folder.write(f"commits/{done}", "")


def opened(
    spark: SparkSession, settings: Settings, *, allows_other_version: bool = False
) -> tuple[int, Settings] | None:
    return settings_of_open_batch(spark, settings, allows_other_version=allows_other_version)


def pin_by_an_earlier_version(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(group_coordinator, "__version__", "0.3.0")
        pin(spark, configured)


def test_an_open_batch_has_the_settings_that_it_began_with(
    spark: SparkSession, configured: Settings
) -> None:
    before = with_retention(configured, 1)
    pin(spark, before)
    leave(spark, configured, planned=4, done=3)
    job = replace(configured.job, timer_slack_ms=7, response_max_bytes=2048, trigger_interval_ms=9)
    now = replace(with_retention(configured, 2), job=job)

    assert opened(spark, before) is None
    kept = replace(before.job, trigger_interval_ms=9)
    assert opened(spark, now) == (4, replace(before, job=kept))


def test_without_an_open_batch_new_settings_count(
    spark: SparkSession, configured: Settings
) -> None:
    assert opened(spark, configured) is None
    pin(spark, with_retention(configured, 1))
    leave(spark, configured, planned=4, done=4)

    assert opened(spark, with_retention(configured, 2)) is None


def test_another_version_is_refused_unless_it_may_differ(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin_by_an_earlier_version(spark, configured, monkeypatch)
    monkeypatch.setattr(group_coordinator, "__version__", "0.4.0")
    leave(spark, configured, planned=4, done=3)

    with pytest.raises(CheckpointError, match=r"batch 4 of .* begun by version 0\.3\.0"):
        opened(spark, configured)
    assert opened(spark, configured, allows_other_version=True) is None


def test_a_batch_that_nothing_came_out_of_binds_nobody(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin_by_an_earlier_version(spark, configured, monkeypatch)
    leave(spark, configured, planned=4, done=3)
    folder = coordinator_folder(spark, configured.job)

    EmptyBatches(folder).note(5)
    with pytest.raises(CheckpointError):
        opened(spark, configured)
    EmptyBatches(folder).end()
    EmptyBatches(folder).note(4)
    assert opened(spark, configured) is None


def test_a_note_holds_for_all_later_batches_until_something_comes_out_of_one(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin_by_an_earlier_version(spark, configured, monkeypatch)
    folder = coordinator_folder(spark, configured.job)
    empty = EmptyBatches(folder)
    empty.note(4)
    empty.note(5)
    leave(spark, configured, planned=6, done=5)
    assert opened(spark, configured) is None

    empty.end()
    leave(spark, configured, planned=7, done=6)
    with pytest.raises(CheckpointError, match="batch 7"):
        opened(spark, configured)


def test_a_note_of_an_earlier_run_ends_with_the_first_output(
    spark: SparkSession, configured: Settings
) -> None:
    folder = coordinator_folder(spark, configured.job)
    EmptyBatches(folder).note(4)

    EmptyBatches(folder).end()

    assert not folder.exists("empty_batches")


def test_a_note_of_version_0_3_is_for_a_single_batch(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin_by_an_earlier_version(spark, configured, monkeypatch)
    folder = coordinator_folder(spark, configured.job)
    folder.write("empty_batch", "4")
    leave(spark, configured, planned=4, done=3)
    assert opened(spark, configured) is None

    leave(spark, configured, planned=5, done=4)
    with pytest.raises(CheckpointError, match="batch 5"):
        opened(spark, configured)


def test_what_nothing_came_out_of_binds_nobody_after_another_version_was_at_it_in_vain(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade that failed, and a rollback: the batch binds once the other version has sent something."""
    monkeypatch.setattr(group_coordinator, "__version__", "0.3.0")
    pin(spark, configured)
    leave(spark, configured, planned=4, done=3)
    empty = EmptyBatches(coordinator_folder(spark, configured.job))
    empty.note(4)
    monkeypatch.setattr(group_coordinator, "__version__", "0.4.0")
    assert opened(spark, configured) is None
    pin(spark, configured)

    monkeypatch.setattr(group_coordinator, "__version__", "0.3.0")
    assert opened(spark, configured) is None
    empty.end()
    with pytest.raises(CheckpointError, match=r"begun by version 0\.4\.0"):
        opened(spark, configured)


def test_an_open_batch_whose_settings_are_lost_is_refused(
    spark: SparkSession, configured: Settings
) -> None:
    leave(spark, configured, planned=4, done=3)

    with pytest.raises(CheckpointError, match=r"batch 4 of .* begun by an unknown version"):
        opened(spark, configured)
    assert opened(spark, configured, allows_other_version=True) is None


@pytest.fixture
def with_gateways(spark: SparkSession, configured: Settings) -> Settings:
    """Of a checkpoint of whose groups gateways have read states."""
    StatesRead(coordinator_folder(spark, configured.job)).note()
    return configured


def with_job(settings: Settings, **job: int | str) -> Settings:
    return replace(settings, job=replace(settings.job, **job))


def test_where_gateways_answer_the_settings_of_the_last_run_count_before_the_ticks(
    spark: SparkSession, with_gateways: Settings
) -> None:
    before = with_job(with_retention(with_gateways, 1), timer_slack_ms=5)
    pin(spark, before)
    leave(spark, before, planned=4, done=4)
    later = with_retention(with_gateways, 2)
    now = with_job(later, max_offsets_per_trigger=9, timer_slack_ms=7)

    kept = with_job(before, max_offsets_per_trigger=9)
    assert settings_before_ticks(spark, now) == kept
    # The query before the Ticks pins them again: a start after a kill finds the same.
    pin(spark, kept)
    assert settings_before_ticks(spark, now) == kept
    pin(spark, now)
    assert settings_before_ticks(spark, now) is None


def test_acls_of_the_last_run_are_checked_before_the_ticks_of_a_run_without(
    spark: SparkSession, with_gateways: Settings
) -> None:
    pin(spark, with_job(with_gateways, acls_source="cluster"))

    kept = settings_before_ticks(spark, with_gateways)

    assert kept is not None
    assert kept.job.acls_source == "file"


def test_settings_count_at_once_if_no_gateway_has_read_a_state(
    spark: SparkSession, configured: Settings
) -> None:
    pin(spark, with_retention(configured, 1))

    assert settings_before_ticks(spark, with_retention(configured, 2)) is None


def test_settings_that_decide_no_response_count_at_once(
    spark: SparkSession, with_gateways: Settings
) -> None:
    assert settings_before_ticks(spark, with_gateways) is None
    pin(spark, with_gateways)

    now = with_job(with_gateways, max_offsets_per_trigger=9)
    assert settings_before_ticks(spark, now) is None


def test_another_version_cannot_keep_the_settings_of_the_last_run(
    spark: SparkSession, with_gateways: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    pin_by_an_earlier_version(spark, with_retention(with_gateways, 1), monkeypatch)

    assert settings_before_ticks(spark, with_retention(with_gateways, 2)) is None
