"""The demo of the gateway: ordinary clients, whose groups the job coordinates."""

from __future__ import annotations
