"""A batch that was planned and not done: with what it is ended, and when it is planned anew."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import SparkSession

import group_coordinator
from group_coordinator.settings import Settings
from group_coordinator.streaming.checkpoint.batch_settings import (
    note_empty,
    pin,
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
    with monkeypatch.context() as earlier:
        earlier.setattr(group_coordinator, "__version__", "0.3.0")
        pin(spark, configured)
    monkeypatch.setattr(group_coordinator, "__version__", "0.4.0")
    leave(spark, configured, planned=4, done=3)

    with pytest.raises(CheckpointError, match=r"batch 4 of .* begun by version 0\.3\.0"):
        opened(spark, configured)
    assert opened(spark, configured, allows_other_version=True) is None


def test_a_batch_that_nothing_came_out_of_binds_nobody(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as earlier:
        earlier.setattr(group_coordinator, "__version__", "0.3.0")
        pin(spark, configured)
    leave(spark, configured, planned=4, done=3)
    folder = coordinator_folder(spark, configured.job)

    note_empty(folder, 3)
    with pytest.raises(CheckpointError):
        opened(spark, configured)
    note_empty(folder, 4)
    assert opened(spark, configured) is None


def test_what_nothing_came_out_of_for_one_version_binds_after_another_one_was_at_it(
    spark: SparkSession, configured: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An upgrade that failed, and a rollback."""
    monkeypatch.setattr(group_coordinator, "__version__", "0.3.0")
    pin(spark, configured)
    leave(spark, configured, planned=4, done=3)
    note_empty(coordinator_folder(spark, configured.job), 4)
    monkeypatch.setattr(group_coordinator, "__version__", "0.4.0")
    assert opened(spark, configured) is None
    pin(spark, configured)

    monkeypatch.setattr(group_coordinator, "__version__", "0.3.0")
    with pytest.raises(CheckpointError, match=r"begun by version 0\.4\.0"):
        opened(spark, configured)


def test_an_open_batch_whose_settings_are_lost_is_refused(
    spark: SparkSession, configured: Settings
) -> None:
    leave(spark, configured, planned=4, done=3)

    with pytest.raises(CheckpointError, match=r"batch 4 of .* begun by an unknown version"):
        opened(spark, configured)
    assert opened(spark, configured, allows_other_version=True) is None
