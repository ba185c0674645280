"""The metrics port of a run, open from its first moment; metrics are added later."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from prometheus_client import CollectorRegistry, ProcessCollector
from prometheus_client.core import InfoMetricFamily

from group_coordinator import __version__
from group_coordinator.driver.errors import JobRefusedError
from group_coordinator.driver.families import Figures
from group_coordinator.gateway.cluster.host_and_port import listen_address
from group_coordinator.observability.metrics_port import Trouble, metrics_port
from group_coordinator.settings import JobSettings

_SETTING = "metrics.listen"


class Endpoint:
    """Content of the port; `watch` returns the reason why the job does not work, None: the job starts."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.registry = registry
        self.watch: Trouble | None = None

    def trouble(self) -> str | None:
        """Return the text of /readyz."""
        return "the job starts" if self.watch is None else self.watch()


@contextmanager
def metrics_endpoint(job: JobSettings) -> Iterator[Endpoint | None]:
    """Serve metrics at metrics.listen while the block runs; None: the setting is empty.

    Raises:
        JobRefusedError: the port is taken, or the address is not this machine's.
        GatewayStartError: the setting is no address.
    """
    if not job.metrics_listen:
        yield None
        return
    endpoint = Endpoint(CollectorRegistry())
    labels = {"version": __version__, "cluster_id": job.cluster_id}
    info = InfoMetricFamily("group_coordinator", "Version and cluster of the job", labels)
    endpoint.registry.register(Figures(lambda: (info,)))
    # A registry of its own has no collectors, unlike prometheus_client's global registry.
    ProcessCollector(registry=endpoint.registry)
    address = listen_address(_SETTING, job.metrics_listen)
    with ExitStack() as opened:
        try:
            opened.enter_context(metrics_port(address, endpoint.registry, endpoint.trouble))
        except OSError as error:
            raise JobRefusedError(f"{_SETTING} = {job.metrics_listen}: {error}") from error
        yield endpoint
