"""The brokers behind the gateway: their addresses, a link to each, and who coordinates."""
