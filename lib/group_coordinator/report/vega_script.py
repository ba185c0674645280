"""Vega, Vega-Lite and Vega-Embed as one script."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version

import vl_convert

from group_coordinator.local.cache import cache_folder, only_one_process

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_script() -> str:
    """The script, about 0.9 MB; it makes window.vegaEmbed. To bundle it takes seconds, so it is kept for the next time."""
    folder = cache_folder("vega")
    kept = folder / f"vl-convert-{version('vl-convert-python')}.js"
    with only_one_process(folder / "lock"):
        if not kept.exists():
            bundled = folder / "bundled"
            bundled.write_text(vl_convert.javascript_bundle(_SNIPPET), encoding="utf-8")
            bundled.replace(kept)
    return kept.read_text(encoding="utf-8")
