from __future__ import annotations

import pytest

from tests.support import package_table
from tests.support.table_pages import BEGIN, END, REFERENCE, generated, replaced


@pytest.mark.parametrize("name", generated())
def test_the_tables_and_views_are_those_of_the_definitions(name: str) -> None:
    page = (REFERENCE / name).read_text(encoding="utf-8")

    assert page.count(BEGIN) == page.count(END) == 1
    assert page == replaced(page, BEGIN, END, generated()[name]), (
        "run python -m tests.support.table_pages --write"
    )


def test_the_packages_are_those_of_the_tree() -> None:
    page = package_table.PAGE.read_text(encoding="utf-8")

    assert page.count(package_table.BEGIN) == page.count(package_table.END) == 1
    assert page == package_table.with_packages(page), (
        "run python -m tests.support.package_table --write"
    )
