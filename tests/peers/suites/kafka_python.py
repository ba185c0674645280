"""kafka-python's integration tests, from its source distribution."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from functools import partial
from importlib import metadata
from pathlib import Path
from xml.etree import ElementTree as ET

from tests.peers.commands import ended, in_a_line, tail
from tests.peers.sources import once, python_source
from tests.peers.suite import Case, Outcome, Place, Suite, SuiteError

KAFKA_VERSION = "4.4.0"
_FILES = ("producer", "consumer", "admin")
_TIMEOUT_S = 600
_SERVICES = """
class SpawnedService: ...

class ExternalService:
    def __init__(self, host, port): ...
    def open(self): ...
    def stop(self): ...
"""
"""In the place of the file that starts brokers: the distribution leaves it out, its fixtures import it all the same."""
_OUTCOMES = {"failure": Outcome.FAILED, "error": Outcome.FAILED, "skipped": Outcome.SKIPPED}


def _obtain() -> Path:
    version = metadata.version("kafka-python")
    return once(f"kafka-python-{version}", partial(_unpacked, version))


def _unpacked(version: str, folder: Path) -> None:
    python_source("kafka-python", version, folder)
    # Else Python's own package of that name would be found first.
    (folder / "test" / "__init__.py").touch()
    (folder / "test" / "service.py").write_text(_SERVICES, encoding="utf-8")
    # The fixtures look for a broker's installation, which they do not use where KAFKA_URI names a broker.
    (folder / "servers" / KAFKA_VERSION / "kafka-bin").mkdir(parents=True)


def cases(source: Path, place: Place, *arguments: str) -> Sequence[Case]:
    """Run those of its files, or those of its tests, that the arguments name."""
    junit = place.folder / "junit.xml"
    # Its own options need a plugin for timeouts.
    options = ("-q", "-p", "no:cacheprovider", "-o", "addopts=", "-o", "log_level=WARNING")
    done = ended(
        (sys.executable, "-m", "pytest", *options, f"--junitxml={junit}", *arguments),
        {
            "KAFKA_URI": f"kafka://{place.bootstrap_servers}",
            "KAFKA_VERSION": KAFKA_VERSION,
            "PYTHONPATH": str(source),
            "PYTHONDONTWRITEBYTECODE": "1",
        },
        source,
        _TIMEOUT_S,
    )
    if not junit.exists():
        raise SuiteError(tail(done.said))
    return list(read(junit))


def read(junit: Path) -> Iterator[Case]:
    for test in ET.parse(junit).iter("testcase"):  # noqa: S314 - as above
        found = next((child for child in test if child.tag in _OUTCOMES), None)
        outcome = Outcome.PASSED if found is None else _OUTCOMES[found.tag]
        why = "" if found is None else in_a_line(found.get("message", ""))
        yield Case(test.get("name", ""), outcome, why)


def _run(source: Path, place: Place) -> Sequence[Case]:
    files = (f"test/integration/test_{name}_integration.py" for name in _FILES)
    return cases(source, place, *files)


KAFKA_PYTHON = Suite("kafka-python", _obtain, _run)
