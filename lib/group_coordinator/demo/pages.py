"""HTTP pages of the processes that the demo starts."""

from __future__ import annotations

from http import HTTPStatus
from urllib.error import HTTPError, URLError
from urllib.request import urlopen

_TIMEOUT_S = 2.0


def page_at(url: str) -> str | None:
    """Return the text of a page; None: there is no response, or not yet (503)."""
    try:
        with urlopen(url, timeout=_TIMEOUT_S) as answer:  # noqa: S310 - http, our own processes
            text: str = answer.read().decode()
            return text
    except HTTPError as refused:
        if refused.code == HTTPStatus.SERVICE_UNAVAILABLE:
            return None
        raise
    except (URLError, ConnectionError, TimeoutError):
        return None
