"""Kafka's group coordinator as a Spark job."""

from __future__ import annotations

__version__ = "0.4.0.dev0"
