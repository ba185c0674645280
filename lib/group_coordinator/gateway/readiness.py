"""Whether clients should be sent to this gateway."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus

from group_coordinator.gateway.cluster.cluster_view import ClusterView
from group_coordinator.observability.http_server import Page

OLDEST_VIEW_S = 10.0

Check = Callable[[], str | None]
"""One sentence about what is amiss, None: nothing."""


def cluster_check(view: ClusterView) -> Check:
    """Whether the brokers answer this gateway itself."""

    def check() -> str | None:
        age_s = view.age_s()
        if age_s is None or age_s > OLDEST_VIEW_S:
            return "no broker has said for 10 seconds what is in the cluster"
        return None

    return check


def first_trouble(checks: Sequence[Check]) -> str | None:
    """None: it is ready."""
    return next(filter(None, (check() for check in checks)), None)


def ready_page(checks: Sequence[Check], nodes_without_port: Mapping[int, str]) -> Page:
    """A node that clients do not find is named, and no reason to turn them away from all others."""
    trouble = first_trouble(checks)
    if trouble is not None:
        return Page(HTTPStatus.SERVICE_UNAVAILABLE, f"{trouble}\n")
    hidden = (f"clients do not find node {n}: {why}\n" for n, why in nodes_without_port.items())
    return Page(HTTPStatus.OK, "".join(["ready\n", *hidden]))
