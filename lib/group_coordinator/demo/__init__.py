"""The demo: one runner and three shows, of the coordinator, the mirror (`mirror.py`) and the gateway (`gateway.py`).

A show has scenes, and queries of the tables at its end.
"""

from __future__ import annotations
