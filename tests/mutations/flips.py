"""Rules of the core, each turned into its opposite, a neighbour, or nothing: what somebody may get wrong one day."""

from __future__ import annotations

from tests.mutations.consumer_flips import CONSUMERS
from tests.mutations.group_flips import REBALANCES, REFUSALS, TRANSACTIONS
from tests.mutations.kept_bytes_flips import KEPT_BYTES
from tests.mutations.migration_flips import CONSUMER_OFFSETS, CONVERSIONS, MIXED
from tests.mutations.rights_flips import RIGHTS
from tests.mutations.time_flips import CLOCK, EXPIRATION, SESSIONS

FLIPS = (
    *CONSUMERS,
    *CLOCK,
    *EXPIRATION,
    *SESSIONS,
    *REBALANCES,
    *REFUSALS,
    *TRANSACTIONS,
    *CONSUMER_OFFSETS,
    *CONVERSIONS,
    *MIXED,
    *RIGHTS,
    *KEPT_BYTES,
)
