from __future__ import annotations

from tests.support.table_pages import BEGIN, END, PAGE, with_table_pages


def test_the_tables_are_those_of_the_definitions() -> None:
    page = PAGE.read_text(encoding="utf-8")

    assert page.count(BEGIN) == page.count(END) == 1
    assert page == with_table_pages(page), "run python -m tests.support.table_pages --write"
