"""HTML file with the answers and the chart library."""

from __future__ import annotations

from base64 import b64encode
from datetime import timedelta
from functools import cache
from hashlib import sha256
from importlib import resources
from importlib.metadata import version

import vl_convert
from jinja2 import Environment, PackageLoader, StrictUndefined

from group_coordinator.clients.errors import QueryError
from group_coordinator.local.folders import cache_folder, only_one_process
from group_coordinator.report.answers import SECTIONS, Report
from group_coordinator.report.phrases import name_text, of_things, time_text
from group_coordinator.report.section import Tile

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@cache
def vega_script() -> str:
    """Script, about 0.9 MB, which sets window.vegaEmbed. The bundle takes seconds, so it is cached."""
    folder = cache_folder("vega")
    kept = folder / f"vl-convert-{version('vl-convert-python')}.js"
    with only_one_process(folder / "lock"):
        if not kept.exists():
            bundled = folder / "bundled"
            bundled.write_text(vl_convert.javascript_bundle(_SNIPPET), encoding="utf-8")
            # The rename is atomic, so a killed process leaves no partial script.
            bundled.replace(kept)
    return kept.read_text(encoding="utf-8")


_PACKAGE = "group_coordinator.report"


def page(report: Report, watch_every_s: float | None = None) -> str:
    """Whole page; with an interval it reloads its content from its server so often."""
    scripts = (vega_script(), _own("page.js"))
    return (
        _environment()
        .get_template("page.html")
        .render(
            **_values(report),
            style=_own("page.css"),
            scripts=scripts,
            # Inline scripts run only if their digests are in the policy.
            script_sources=" ".join(map(_source_of, scripts)),
            watch_every_s=watch_every_s,
        )
    )


def content(report: Report) -> str:
    """Part of the page that changes: the inside of its body."""
    return _environment().get_template("content.html").render(**_values(report))


def _values(report: Report) -> dict[str, object]:
    scope = report.scope
    return {
        "scope": scope,
        "clusters": [name_text(cluster_id) for cluster_id in report.clusters],
        "length": of_things((scope.end - scope.begin) // timedelta(hours=1), "hour"),
        "end": time_text(scope.end),
        "tiles": _tiles(report),
        "sections": [(section, report.contents[section.name]) for section in SECTIONS],
        "is_trouble": lambda found: isinstance(found, QueryError),
    }


def _tiles(report: Report) -> list[Tile]:
    return [
        tile
        for found in report.contents.values()
        if not isinstance(found, QueryError)
        for tile in found.tiles
    ]


@cache
def _environment() -> Environment:
    # Group ids come from clients, so everything is escaped.
    return Environment(
        loader=PackageLoader(_PACKAGE, "templates"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )


@cache
def _own(name: str) -> str:
    return (resources.files(_PACKAGE) / "templates" / name).read_text(encoding="utf-8")


def _source_of(script: str) -> str:
    # A source in the page's Content-Security-Policy: no other script may run.
    return f"'sha256-{b64encode(sha256(script.encode()).digest()).decode()}'"
