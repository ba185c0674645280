"""All stories, by name."""

from __future__ import annotations

import importlib
import pkgutil

from tests.conformance.story import STORIES as STORIES

for module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{module.name}")
