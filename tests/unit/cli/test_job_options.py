from __future__ import annotations

from group_coordinator.cli.job_options import job_settings


def test_an_option_wins_over_the_setting_of_its_name() -> None:
    overrides = ("metrics.listen=127.0.0.1:1", "bootstrap.servers=a:1")

    job = job_settings(None, overrides, "b:2", "127.0.0.1:2").job
    as_set = job_settings(None, overrides, None, None).job

    assert (job.bootstrap_servers, job.metrics_listen) == ("b:2", "127.0.0.1:2")
    assert (as_set.bootstrap_servers, as_set.metrics_listen) == ("a:1", "127.0.0.1:1")
