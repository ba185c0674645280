"""Settings of the open batch: a repeat with other settings would contradict its outputs that are out already.

The next start ends an open batch with the settings that are written here, and only then continues with its own. Another version
of the program might decide otherwise with equal settings, so it refuses to end such a batch.
"""

from __future__ import annotations

from dataclasses import replace

from msgspec import ValidationError, convert, json, structs, to_builtins
from pyspark.sql import SparkSession

import group_coordinator
from group_coordinator.core.model.config import CoordinatorConfig
from group_coordinator.runtime.basis import Basis, DecidingSettings
from group_coordinator.settings import AclsSource, JobSettings, Settings
from group_coordinator.streaming.checkpoint.folder import CheckpointFolder
from group_coordinator.streaming.checkpoint.layout import (
    coordinator_folder,
    last_done_batch,
    last_planned_batch,
)
from group_coordinator.streaming.checkpoint.ownership import CheckpointError

_FILE = "settings"
_EMPTY = "empty_batches"
_EMPTY_OF_0_3 = "empty_batch"
_STATES_READ = "states_read"


class BatchSettings(DecidingSettings, frozen=True, kw_only=True):
    """The settings that influence the outputs of a batch."""

    max_offsets_per_trigger: int
    follows_markers: bool


def basis_of(settings: Settings, acls: str | None = None) -> Basis:
    """Return the basis of responses with these settings and packed ACLs."""
    return Basis(_deciding(_pinned(settings)), acls)


def pin(spark: SparkSession, settings: Settings) -> None:
    """Write the settings of the batches that begin from now on."""
    folder, pinned = coordinator_folder(spark, settings.job), _pinned(settings)
    if _read(folder) != pinned:
        folder.write_next(_FILE, json.encode(pinned).decode())


class EmptyBatches:
    """Note of the first of the last batches without outputs: if one of them is left open, a repeat cannot contradict a response.

    The note is written once for all of them, and is removed before the next output, so that idle batches need no file of their own.
    """

    def __init__(self, folder: CheckpointFolder) -> None:
        self._folder = folder
        # An earlier run may have left a note.
        self._is_noted: bool | None = None

    def note(self, batch_id: int) -> None:
        """Note that this batch, by Spark's number, has no outputs."""
        if self._is_noted is not True:
            self._folder.write(_EMPTY, str(batch_id))
            self._is_noted = True

    def end(self) -> None:
        """Remove the note; must be called before a batch sends or writes any output."""
        if self._is_noted is not False:
            self._folder.remove(_EMPTY)
            self._is_noted = False


class StatesRead:
    """Note that a gateway has read the state of a group. From then on gateways may answer by the settings of the last run."""

    def __init__(self, folder: CheckpointFolder) -> None:
        self._folder = folder
        self.is_noted = folder.exists(_STATES_READ)

    def note(self) -> None:
        if not self.is_noted:
            self._folder.write(_STATES_READ, "")
            self.is_noted = True


def _is_empty(folder: CheckpointFolder, batch_id: int) -> bool:
    first = folder.read_as(_EMPTY, int, "remove it")
    if first is None:
        return folder.read(_EMPTY_OF_0_3) == str(batch_id)
    return first <= batch_id


def began_with_acls(folder: CheckpointFolder) -> bool:
    """Return True if the last batch checked ACLs. A batch of another version counts as unchecked."""
    pinned = _read(folder)
    return pinned is not None and _is_of_this_version(pinned) and pinned.checks_acls


def settings_before_ticks(spark: SparkSession, settings: Settings) -> Settings | None:
    """Return the settings of the events before a start's Ticks, by which gateways may have answered; None: those of this run.

    As long as no gateway has read a state, none has answered. Another version of the program cannot decide as the last run did, so nothing is kept then.
    Raises DamagedFileError: the settings of the last run cannot be read.
    """
    folder = coordinator_folder(spark, settings.job)
    if not StatesRead(folder).is_noted:
        return None
    pinned, now = _read(folder), _pinned(settings)
    if pinned is None or not _is_of_this_version(pinned) or _deciding(pinned) == _deciding(now):
        return None
    # The other settings decide no response.
    kept = structs.replace(
        pinned,
        max_offsets_per_trigger=now.max_offsets_per_trigger,
        follows_markers=now.follows_markers,
    )
    return _with(settings, kept, _coordinator(folder, kept))


def settings_of_open_batch(
    spark: SparkSession, settings: Settings, *, allows_other_version: bool
) -> tuple[int, Settings] | None:
    """Return the open batch of an earlier run, by Spark's number, and its settings if they differ.

    None: there is no such batch, or it has these settings, or it is of another version and has no outputs.
    Raises CheckpointError: another version of the program began it, and may have sent outputs.
    Raises DamagedFileError: its settings cannot be read.
    """
    folder = coordinator_folder(spark, settings.job)
    batch_id, pinned = last_planned_batch(folder), _read(folder)
    # Equal settings need no first query of their own: the usual query ends the batch.
    if batch_id <= last_done_batch(folder) or pinned == _pinned(settings):
        return None
    # The same version decides the same with the same settings, so it may end the batch.
    if pinned is not None and _is_of_this_version(pinned):
        return batch_id, _with(settings, pinned, _coordinator(folder, pinned))
    if allows_other_version or _is_empty(folder, batch_id):
        return None
    version = "an unknown version" if pinned is None else f"version {pinned.program_version}"
    raise CheckpointError(
        f"batch {batch_id} of {folder.location} was begun by {version} and has not ended: end it with that "
        "version (`run --drain`), or with this version by `run --redo-open-batch`, if its responses and "
        "records may differ from those already written"
    )


def _is_of_this_version(pinned: BatchSettings) -> bool:
    return pinned.program_version == group_coordinator.__version__


def _deciding(pinned: BatchSettings) -> DecidingSettings:
    return convert(pinned, DecidingSettings, from_attributes=True)


def _pinned(settings: Settings) -> BatchSettings:
    job = settings.job
    return BatchSettings(
        program_version=group_coordinator.__version__,
        coordinator=to_builtins(settings.coordinator),
        timer_slack_ms=job.timer_slack_ms,
        response_max_bytes=job.response_max_bytes,
        announces_topics=job.topic_metadata_interval_ms > 0,
        max_offsets_per_trigger=job.max_offsets_per_trigger,
        follows_markers=job.transactions_markers_interval_ms > 0,
        checks_acls=job.acls_source != "none",
    )


def _coordinator(folder: CheckpointFolder, pinned: BatchSettings) -> CoordinatorConfig:
    try:
        return convert(pinned.coordinator, CoordinatorConfig)
    except ValidationError as error:
        raise folder.damaged(folder.newest(_FILE) or _FILE, error) from error


def _with(settings: Settings, pinned: BatchSettings, coordinator: CoordinatorConfig) -> Settings:
    job = replace(
        settings.job,
        timer_slack_ms=pinned.timer_slack_ms,
        response_max_bytes=pinned.response_max_bytes,
        # Only the switch influences the outputs, so a changed interval may stay.
        topic_metadata_interval_ms=_some_or_none(
            settings.job.topic_metadata_interval_ms, is_some=pinned.announces_topics
        ),
        transactions_markers_interval_ms=_some_or_none(
            settings.job.transactions_markers_interval_ms, is_some=pinned.follows_markers
        ),
        max_offsets_per_trigger=pinned.max_offsets_per_trigger,
        acls_source=_source(settings.job, checks_acls=pinned.checks_acls),
    )
    return Settings(coordinator, job)


def _some_or_none(interval_ms: int, *, is_some: bool) -> int:
    return (interval_ms or 1) if is_some else 0


def _source(job: JobSettings, *, checks_acls: bool) -> AclsSource:
    # The ACLs of an open batch are in the checkpoint (task_properties.py), whatever their source was.
    if not checks_acls:
        return "none"
    return "file" if job.acls_source == "none" else job.acls_source


def _read(folder: CheckpointFolder) -> BatchSettings | None:
    return folder.read_newest_as(_FILE, BatchSettings)
