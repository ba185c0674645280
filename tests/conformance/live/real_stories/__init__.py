"""All stories that real consumers live through, by name."""

from __future__ import annotations

import importlib
import pkgutil

from tests.conformance.live.real_story import STORIES as STORIES

for module in pkgutil.walk_packages(__path__, f"{__name__}."):
    importlib.import_module(module.name)
