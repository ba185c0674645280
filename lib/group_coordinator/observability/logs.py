"""Logs of the commands while they run: short lines on standard error."""

from __future__ import annotations

import logging

# Loggers of every attempt to connect, and of every exception on its way to Java; the final error is raised anyway.
_TOLD_BY_ERRORS = ("kafka.net.", "py4j.")
# Messages of kafka.cluster: twenty lines a second during an outage, among which ours would be lost.
_EACH_ATTEMPT = ("No node available for", "Metadata refresh: failed", "Topic %s not found in")


LEVELS = ("debug", "info", "warning", "error")
"""Levels of --log-level. At debug the log names the decisions of each batch and the route of each request."""
_OURS = "group_coordinator"


def set_level(name: str) -> None:
    logging.getLogger(_OURS).setLevel(name.upper())


def level() -> str:
    """Return the level of our own lines, as one of LEVELS."""
    return logging.getLevelName(logging.getLogger(_OURS).getEffectiveLevel()).lower()


def set_up_logs() -> None:
    """Log our own lines, from `info` on unless a level is set, and warnings of libraries."""
    logging.basicConfig(
        level=logging.WARNING, format="%(asctime)s %(levelname)s %(message)s", datefmt="%H:%M:%S"
    )
    for handler in logging.getLogger().handlers:
        handler.addFilter(_is_worth_a_line)
    if logging.getLogger(_OURS).level == logging.NOTSET:
        set_level("info")


def _is_worth_a_line(record: logging.LogRecord) -> bool:
    # py4j logs an interrupted or broken request by the root logger.
    if record.name.startswith(_TOLD_BY_ERRORS) or record.module == "java_gateway":
        return False
    return not (record.name == "kafka.cluster" and str(record.msg).startswith(_EACH_ATTEMPT))
