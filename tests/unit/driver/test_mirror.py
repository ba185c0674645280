"""How the settings of a mirror follow from those of its cluster; what it does: tests/spark/test_mirror.py."""

from __future__ import annotations

from dataclasses import replace

import pytest

from group_coordinator import settings
from group_coordinator.driver.mirror.run import mirror_settings

ROOT = "/data/state"


@pytest.mark.parametrize(
    ("cluster", "folder"),
    [
        ("eu-1", "mirror-eu-1"),
        ("a/b", "mirror-ab~c14cddc0"),
        ("ab", "mirror-ab"),
        ("ünicode", "mirror-nicode~f8a65828"),
    ],
)
def test_each_cluster_has_a_folder_for_its_checkpoints(cluster: str, folder: str) -> None:
    given = settings.load(overrides=[f"checkpoint.location={ROOT}/", f"cluster.id={cluster}"])

    mirrored = mirror_settings(given, "__consumer_offsets")

    job = replace(
        given.job,
        events_topic="__consumer_offsets",
        checkpoint_location=f"{ROOT}/{folder}",
    )
    assert mirrored == replace(given, job=job)
