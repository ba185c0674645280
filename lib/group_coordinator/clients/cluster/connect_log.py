"""Capture of kafka-python's log: the error that it raises is a timeout, and the cause is only in its log."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from kafka.errors import (
    RequestTimedOutError,
    SaslAuthenticationFailedError,
    UnsupportedSaslMechanismError,
)

LOGIN_ERRORS = (SaslAuthenticationFailedError, UnsupportedSaslMechanismError)
_LOGGER = "kafka.net.manager"


class LoggedErrors(logging.Handler):
    """Log handler that keeps the logged exceptions."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self._errors: list[Exception] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep the exceptions of a log record, as logging's handler."""
        arguments = record.args if isinstance(record.args, tuple) else ()
        self._errors += [each for each in arguments if isinstance(each, Exception)]

    def cause(self, error: Exception) -> Exception:
        """Return the logged error that explains the cause best, or else the error itself.

        A broker that rejects a login often closes the connection before its response is read: any of several attempts
        may have read it.
        """
        of_login = [each for each in self._errors if isinstance(each, LOGIN_ERRORS)]
        # The last error is closest to the failure.
        others = [each for each in self._errors if type(each) is not type(error)]
        # The last attempt has only the rest of the time, and its timeout says nothing of the others.
        others.sort(key=lambda each: not isinstance(each, RequestTimedOutError))
        return next(iter([*of_login, *reversed(others)]), error)


@contextmanager
def logged_errors() -> Iterator[LoggedErrors]:
    """Keep kafka-python's logged errors while the block runs."""
    logger = logging.getLogger(_LOGGER)
    errors = LoggedErrors()
    logger.addHandler(errors)
    try:
        yield errors
    finally:
        logger.removeHandler(errors)
