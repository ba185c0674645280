from __future__ import annotations

from tests.support.table_pages import BEGIN, BEGIN_VIEWS, END, END_VIEWS, PAGE, with_table_pages


def test_the_tables_and_views_are_those_of_the_definitions() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page.count(BEGIN) == page.count(END) == 1
    assert page.count(BEGIN_VIEWS) == page.count(END_VIEWS) == 1
    assert page == with_table_pages(page), "run python -m tests.support.table_pages --write"
