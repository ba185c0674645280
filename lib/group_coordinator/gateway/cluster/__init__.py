"""The brokers behind the gateway: addresses, connections, and the coordinators of groups."""
