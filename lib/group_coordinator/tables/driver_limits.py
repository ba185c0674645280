"""How much data the driver may hold: what is larger stays in Spark."""

from __future__ import annotations

MOST_ROWS = 50_000
"""Rows that the driver may hold."""
MOST_BYTES = 64 * 1024 * 1024
"""Bytes of rows that the driver may hold."""
