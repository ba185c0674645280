from __future__ import annotations

import re
from base64 import b64encode
from datetime import UTC, datetime
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from group_coordinator.clients.errors import QueryError
from group_coordinator.report.page import Report, ask, content, page
from group_coordinator.report.section import Scope
from tests.support.busy_day import HOSTILE
from tests.support.group_history import GroupHistory, tables_of
from tests.support.samples import sample


class Parsed(HTMLParser):
    """What a browser would make of a page, as far as it matters here."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.starts: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[str] = []
        self._in_script = False
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.starts.append((tag, dict(attrs)))
        self._in_script = tag == "script" and not attrs
        if self._in_script:
            self.scripts.append("")

    def handle_data(self, data: str) -> None:
        if self._in_script:
            self.scripts[-1] += data

    def handle_endtag(self, tag: str) -> None:  # noqa: ARG002 - the base's signature
        self._in_script = False


@pytest.fixture(scope="module")
def whole(day: Report) -> str:
    return page(day)


def test_a_name_from_outside_is_a_text(day: Report) -> None:
    text = content(day)

    assert HOSTILE not in text
    assert (
        '<td role="cell" class="name" data-heading="Group">&lt;script&gt;alert(1)&lt;/script&gt;</td>'
        in text
    )
    assert '"name": "\\u003cscript\\u003ealert(1)\\u003c/script\\u003e"' in text


def test_only_the_scripts_of_the_page_may_run(whole: str) -> None:
    parsed = Parsed(whole)
    [policy] = re.findall(r'Content-Security-Policy" content="([^"]*)"', whole)

    digests = [b64encode(sha256(text.encode()).digest()).decode() for text in parsed.scripts]
    assert re.findall(r"'sha256-([^']*)'", policy) == digests
    assert len(digests) == 2
    assert "default-src 'none'" in policy
    assert "connect-src 'none'" in policy


def test_it_loads_nothing(whole: str) -> None:
    loading = [
        (tag, attributes)
        for tag, attributes in Parsed(whole).starts
        if "src" in attributes or (tag == "link" and attributes["href"] != "data:,")
    ]

    assert loading == []


def test_every_chart_has_words_and_every_table_a_caption(day: Report) -> None:
    parsed = Parsed(content(day))

    charts = [own for tag, own in parsed.starts if own.get("class") == "chart"]
    assert len(charts) == 7
    assert all(own["role"] == "img" and own["aria-label"] for own in charts)
    tags = [tag for tag, _ in parsed.starts]
    assert tags.count("caption") == tags.count("table") == 10
    assert [tag for tag in tags if tag in {"h1", "h2", "h3"}] == ["h1", *["h2"] * 11]


def test_empty_tables_give_a_page_that_says_so(day: Report, tmp_path: Path) -> None:
    text = content(ask(str(tables_of(tmp_path)), day.scope._replace(cluster=None)))

    for sentence in (
        "There are no groups, or compaction has not run: give",
        "The ends of the topics were not sampled in this time",
        "No group has lost records, or left half of a log unread.",
        "No group committed in this time.",
        "No offset is about to expire",
        "No offset was lost in this time.",
        "No offset was set, set back or deleted in this time.",
        "No topic is stale.",
        "There is no group that could change.",
    ):
        assert sentence in text
    assert "<figure" not in text
    assert "<table" not in text


def test_of_a_group_ahead_of_the_log_the_page_says_no_lag(tmp_path: Path) -> None:
    group = GroupHistory("reader")
    group.commit({"orders": {0: 899}})
    group.sleep(1_000)
    group.commit({"orders": {0: -1, 1: 899}})
    root = tables_of(tmp_path, group)
    for seconds in (0, 60, 120):
        sample(root, seconds, "orders", {0: 54, 1: 54})
    day = Scope(datetime.fromtimestamp(0, UTC), datetime.fromtimestamp(3_600, UTC))

    text = re.sub(r"\s*<[^>]*>\s*", "|", content(ask(str(root), day)))

    assert re.search(r"\|reader\|+AHEAD\|+Empty, classic\|+0\|+-\|+-\|+-\|", text)
    assert re.search(r"\|reader\|+-\|+0\|+1970-01-01 00:00\|+0 s\|", text)


def test_a_question_that_cannot_be_answered_says_why(day: Report) -> None:
    without = {**day.contents, "lag": QueryError("table '<lag>' not found")}

    text = content(day._replace(contents=without))

    assert "These tables cannot answer the query: table &#39;&lt;lag&gt;&#39; not found." in text


def test_who_serves_it_may_be_asked_for_news(day: Report) -> None:
    text = page(day, watch_every_s=30)

    assert '<body data-watch-every="30">' in text
    assert "connect-src 'self'" in text
