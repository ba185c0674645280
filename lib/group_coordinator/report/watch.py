"""Serves the page to a browser on this machine, and keeps it current."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import NamedTuple

from group_coordinator.codecs.host_and_port import written
from group_coordinator.observability.http_server import Page, http_server, is_own_name


class Texts(NamedTuple):
    """The page, and what of it changes."""

    page: str
    content: str


class Current:
    """The texts as they were made last. One thread makes them, others read them."""

    def __init__(self, make: Callable[[], Texts]) -> None:
        self._make = make
        self._texts = make()
        self.trouble = ""

    def renew(self) -> None:
        """Make them anew."""
        self._texts, self.trouble = self._make(), ""

    def page(self) -> Page:
        """The page, or why there is none."""
        return self._shown(self._texts.page)

    def content(self) -> Page:
        """What of it changes."""
        return self._shown(self._texts.content)

    def _shown(self, text: str) -> Page:
        if self.trouble:
            return Page(HTTPStatus.SERVICE_UNAVAILABLE, self.trouble)
        return Page(HTTPStatus.OK, text, "text/html")


@contextmanager
def served(current: Current, host: str, port: int) -> Iterator[str]:
    """A server for the length of the block; its address.

    Raises:
        OSError: nobody can listen there.
    """
    pages = {"/": current.page, "/content": current.content}
    with http_server((host, port), "report", pages, is_own_name) as number:
        yield f"http://{written(host, number)}/"
