"""The show of the coordinator: groups of both protocols, driven by the job's own clients."""

from __future__ import annotations
