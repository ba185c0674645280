"""The cluster's address and the login to it, for Spark's Kafka source and sink."""

from __future__ import annotations

from group_coordinator.settings import JobSettings


def cluster_options(job: JobSettings) -> dict[str, str]:
    """Options of a reader or a writer; Spark passes those that begin with `kafka.` on to Kafka's own client."""
    properties = {"bootstrap.servers": job.bootstrap_servers, **job.security.java_options()}
    return {f"kafka.{key}": value for key, value in properties.items()}
