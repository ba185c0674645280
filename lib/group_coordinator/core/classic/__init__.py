"""The rebalance of classic groups."""
