"""The demo: one runner and three shows; a show has scenes, and queries of the tables at its end."""

from __future__ import annotations
