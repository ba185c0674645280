"""The commands of `group-coordinator`: a file for each command, listed in `main.py`."""

from __future__ import annotations
