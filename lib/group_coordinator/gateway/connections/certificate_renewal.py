"""The certificate of the ports of clients, as its file is now: a renewed one needs no restart."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from ssl import SSLContext

from group_coordinator.gateway.cluster.broker_access import listener_context
from group_coordinator.gateway.start_errors import GatewayStartError

_LOOK_INTERVAL_S = 10.0

_log = logging.getLogger(__name__)


class CertificateRenewal:
    """Looks after one file, which the context was made of; connections that are open keep the certificate that they had."""

    def __init__(self, context: SSLContext, key_store: str) -> None:
        self._context = context
        self._key_store = key_store
        self._changed_at_ns = _changed_at_ns(key_store)

    async def keep(self) -> None:
        """Look again and again, until this is cancelled."""
        while True:
            await asyncio.sleep(_LOOK_INTERVAL_S)
            self.look()

    def look(self) -> None:
        """Load the file if it has changed; the log says if it cannot be used."""
        changed_at_ns = _changed_at_ns(self._key_store)
        if changed_at_ns == self._changed_at_ns:
            return
        self._changed_at_ns = changed_at_ns
        try:
            listener_context(self._key_store, "")  # half a file would spoil the context in use
            self._context.load_cert_chain(self._key_store, password="")
        except (GatewayStartError, OSError, ValueError) as error:
            _log.error("The certificate stays as it was: %s", error)
        else:
            _log.info(
                "gateway.ssl.keystore.location = %s: its new certificate counts", self._key_store
            )


def _changed_at_ns(file: str) -> int:
    """0: it is not there."""
    try:
        return Path(file).stat().st_mtime_ns
    except OSError:
        return 0
