from __future__ import annotations

import asyncio
import socket
from unittest.mock import Mock

from group_coordinator.gateway.connections.line import Line, LineOwner


def test_a_peer_that_has_hung_up_already_has_no_name() -> None:
    """asyncio has none then: the socket is not connected any more."""

    async def scene() -> None:
        owner = Mock(spec=LineOwner)
        line = Line(owner, Mock())
        with socket.socket() as gone:
            transport = Mock(spec=asyncio.Transport)
            transport.get_extra_info = {"peername": None, "socket": gone}.get
            line.connection_made(transport)

        assert line.peer_host == ""
        owner.line_made.assert_called_once_with(line)

    asyncio.run(scene())
