"""The demo of the mirror: a real cluster with ordinary consumers, whose groups appear in the tables."""

from __future__ import annotations
