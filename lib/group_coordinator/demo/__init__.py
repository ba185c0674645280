"""The demo: a fleet of consumer groups on a real broker, the job, and queries of the tables afterwards."""

from __future__ import annotations
