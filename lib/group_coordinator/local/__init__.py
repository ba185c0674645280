"""Programs and files of this machine: an embedded broker, the jars, caches, child processes, a scratch folder for each run."""

from __future__ import annotations
