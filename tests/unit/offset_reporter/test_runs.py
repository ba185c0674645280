from __future__ import annotations

from threading import Timer

from group_coordinator.offset_reporter.offset_reporter import Runs


def test_a_run_that_spark_has_ended_is_waited_for_and_one_that_goes_on_is_not() -> None:
    runs = Runs()
    runs.begin("ended")
    runs.begin("active")
    late = Timer(0.01, runs.end, ["ended"])
    late.start()

    assert runs.await_all_but({"active"}, timeout_s=10)
    assert runs
    assert not runs.await_all_but(set(), timeout_s=0.01)
    late.join()


def test_what_never_began_is_not_waited_for() -> None:
    runs = Runs()
    runs.end("unknown")

    assert not runs
    assert runs.await_all_but(set(), timeout_s=0)
