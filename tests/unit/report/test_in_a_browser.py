"""The page as a browser shows it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from deltalake import write_deltalake

from group_coordinator.report.page import Report, ask, content, page
from group_coordinator.report.section import Content, Scope, TitledChart
from group_coordinator.report.watch import Current, Texts, served
from group_coordinator.tables.position import Position
from group_coordinator.tables.samples import TOPIC_POSITIONS, position_rows
from tests.support.browser import PROGRAMS, Browser, program, started
from tests.support.busy_day import HOSTILE
from tests.support.group_history import GroupHistory, tables_of

CHROMIUM = program()
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason=f"none of {', '.join(PROGRAMS)} is here")

MARKS = """
  [...document.querySelectorAll(".chart svg")].map((chart) =>
    [...chart.querySelectorAll(".mark-rect path, .mark-line path, .mark-symbol path")]
      .filter((mark) => mark.getBoundingClientRect().width + mark.getBoundingClientRect().height > 2).length)
"""
COLOURS = """
  [...document.querySelectorAll(".mark-line path")]
    .map((line) => getComputedStyle(line).stroke).filter((colour) => colour !== "none")
"""
NAMES = (
    *("__proto__", "constructor", "x" * 2_000, "a.b[0]['c']", "{{ 7 * 7 }}", "\u202eback"),
    *("'; DROP TABLE groups; --", "</script><img src=x onerror=alert(1)>", '" onload="alert(1)'),
)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with started(str(CHROMIUM), tmp_path_factory.mktemp("profile")) as browser:
        yield browser


@pytest.fixture(scope="module")
def file(day: Report, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("page") / "report.html"
    path.write_text(page(day), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280], ids=["phone", "desktop"])
def test_every_chart_is_drawn(browser: Browser, file: Path, width: int, *, dark: bool) -> None:
    browser.open(file.as_uri(), width=width, dark=dark)

    assert browser.errors == []
    assert browser.requests == [file.as_uri()]
    assert browser.ask("document.querySelectorAll('.chart').length") == 7
    marks = browser.ask(MARKS)
    assert len(marks) == 7
    assert all(marks), marks
    assert browser.ask("document.documentElement.scrollWidth") == width
    assert browser.ask(
        "[...document.querySelectorAll('.chart svg')].every((svg) => svg.getBoundingClientRect().right <= innerWidth)"
    )


def test_light_and_dark_have_their_own_colours(browser: Browser, file: Path) -> None:
    browser.open(file.as_uri())
    light = browser.ask(COLOURS), browser.ask("getComputedStyle(document.body).backgroundColor")
    browser.open(file.as_uri(), dark=True)
    dark = browser.ask(COLOURS), browser.ask("getComputedStyle(document.body).backgroundColor")

    assert light[0][0] == "rgb(47, 111, 214)"
    assert dark[0][0] == "rgb(106, 165, 255)"
    assert (light[1], dark[1]) == ("rgb(246, 247, 249)", "rgb(15, 17, 21)")


def test_a_name_from_outside_is_shown_and_not_run(browser: Browser, file: Path) -> None:
    browser.open(file.as_uri())

    # In the chart, and in the table.
    assert browser.ask("document.querySelector('#groups').innerText").count(HOSTILE) == 2
    assert HOSTILE in browser.ask(
        "[...document.querySelectorAll('#groups svg text')].map((text) => text.textContent)"
    )
    assert browser.ask("document.scripts.length") == 2 + 7


def test_no_name_is_too_strange(browser: Browser, tmp_path: Path) -> None:
    histories = []
    for name in NAMES:
        own = GroupHistory(name)
        own.principal = f"User:{name}"
        own.commit({"orders" * 40: {0: 10}})
        own.delete_offsets({"orders" * 40: [0]})
        own.commit({"orders" * 40: {0: 10}})
        histories.append(own)
    root = tables_of(tmp_path / "tables", *histories)
    samples = position_rows("test", [Position("orders" * 40, 0, 0, 100, 100)], 60_000)
    write_deltalake(root / TOPIC_POSITIONS.name, samples, mode="append")
    begin = datetime(1970, 1, 1, tzinfo=UTC)
    report = ask(str(root), Scope(begin, begin + timedelta(hours=1)))
    file = tmp_path / "strange.html"
    file.write_text(page(report), encoding="utf-8")

    browser.open(file.as_uri(), width=390)

    assert browser.errors == []
    assert all(browser.ask(MARKS))
    assert browser.ask("document.documentElement.scrollWidth") == 390
    shown = {name.replace("\u202e", r"\u202e") for name in NAMES}
    assert shown <= set(
        browser.ask("[...document.querySelectorAll('td')].map((cell) => cell.textContent)")
    )


def test_a_script_that_is_not_of_the_page_does_not_run(browser: Browser, file: Path) -> None:
    browser.open(file.as_uri())

    browser.ask(
        "{ const script = document.createElement('script'); script.textContent = 'window.was_run = 1';"
        "document.body.append(script) }"
    )

    assert browser.ask("window.was_run === undefined")
    assert any("Content Security Policy" in error for error in browser.errors)


def test_a_chart_that_cannot_be_drawn_says_so(
    browser: Browser, day: Report, tmp_path: Path
) -> None:
    broken = Content(figures=[TitledChart("Broken", "nothing", {"mark": "nonsense", "data": {}})])
    file = tmp_path / "broken.html"
    file.write_text(page(day._replace(contents={**day.contents, "lost": broken})))

    browser.open(file.as_uri())

    assert "This chart could not be drawn" in browser.ask(
        "document.querySelector('#lost').innerText"
    )
    assert browser.ask("document.querySelectorAll('.chart[data-drawn=yes]').length") == 6


PLACE = "document.querySelector('#groups').getBoundingClientRect().top"


def test_news_come_by_themselves_and_the_place_stays(browser: Browser, day: Report) -> None:
    later = day._replace(scope=day.scope._replace(end=day.scope.end + timedelta(minutes=1)))
    lost = {**later.contents, "lost": later.contents["changes"]}
    reports = iter([day, later._replace(contents=lost)])

    def texts() -> Texts:
        report = next(reports)
        return Texts(page(report, watch_every_s=0.1), content(report))

    current = Current(texts)
    with served(current, "127.0.0.1", 0) as address:
        browser.open(address)
        browser.ask("scrollTo(0, 900); window.is_the_same_page = true; null")
        # The tiles above may need another row.
        place = browser.ask(PLACE)
        current.renew()
        browser.until("document.querySelector('.when').textContent.includes('2025-06-03 00:01')")
        browser.until("document.querySelector('#lost').textContent.includes('User:anna')")

        assert browser.ask("window.is_the_same_page")
        assert browser.ask(PLACE) == pytest.approx(place, abs=1)
        assert browser.ask("document.querySelectorAll('section').length") == 11
        assert all(browser.ask(MARKS))
        current.trouble = "there are no tables"
        browser.until(
            "document.querySelector('#news').textContent === 'Not updated: there are no tables'"
        )
