"""Why kafka-python could not connect: the error that it raises is a timeout, and the cause is in its log only."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.errors import SaslAuthenticationFailedError, UnsupportedSaslMechanismError

LOGIN_ERRORS = (SaslAuthenticationFailedError, UnsupportedSaslMechanismError)
_LOGGER = "kafka.net.manager"


class LoggedErrors(logging.Handler):
    """Keeps the exceptions that were logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._errors: list[Exception] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Called by logging."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        self._errors += [each for each in arguments if isinstance(each, Exception)]

    def cause(self, error: Exception) -> Exception:
        """The logged error that says most about the cause, or else the error itself.

        A broker that refuses a login often closes the connection before its answer is read: one of
        several attempts may have read it.
        """
        of_login = [each for each in self._errors if isinstance(each, LOGIN_ERRORS)]
        others = [each for each in self._errors if type(each) is not type(error)]
        return next(iter([*of_login, *reversed(others)]), error)


@contextmanager
def logged_errors() -> Iterator[LoggedErrors]:
    """What kafka-python logs while the block runs."""
    logger = logging.getLogger(_LOGGER)
    errors = LoggedErrors()
    logger.addHandler(errors)
    try:
        yield errors
    finally:
        logger.removeHandler(errors)
