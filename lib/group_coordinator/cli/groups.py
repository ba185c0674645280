"""`group-coordinator groups`: what Kafka's kafka-consumer-groups does, for groups of this coordinator."""

from __future__ import annotations
