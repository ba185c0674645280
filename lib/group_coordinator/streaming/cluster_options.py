"""The cluster's address and the login to it, for Spark's Kafka source and sink."""

from __future__ import annotations

import os

from group_coordinator.settings import JobSettings

DATABRICKS = "DATABRICKS_RUNTIME_VERSION"
"""The environment variable that is there on Databricks, and nowhere else."""

_KAFKA, _SHADED_KAFKA = "org.apache.kafka.", "kafkashaded.org.apache.kafka."


def cluster_options(job: JobSettings) -> dict[str, str]:
    """Options of a reader or a writer; Spark passes those that begin with `kafka.` on to Kafka's own client.

    Databricks has that client under other class names, so that a login module is not found by its usual one.
    """
    properties = {"bootstrap.servers": job.bootstrap_servers, **job.security.java_options()}
    login = properties.get("sasl.jaas.config")
    if login is not None and DATABRICKS in os.environ:
        properties["sasl.jaas.config"] = login.replace(_KAFKA, _SHADED_KAFKA, 1)
    return {f"kafka.{key}": value for key, value in properties.items()}
