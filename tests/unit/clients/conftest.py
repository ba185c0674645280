from __future__ import annotations

import pytest

from tests.unit.clients.billing import coordinator_of_billing
from tests.unit.clients.coordinator_in_process import CoordinatorInProcess


@pytest.fixture
def coordinator() -> CoordinatorInProcess:
    """Where members of a consumer group meet; it knows two topics."""
    return coordinator_of_billing()
