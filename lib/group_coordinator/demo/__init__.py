"""The demo: a fleet of consumer groups on a real broker, the job at work, and what the tables tell afterwards."""

from __future__ import annotations
