"""Groups on their way between the protocols: upgrade, downgrade, and requests of classic members in a consumer group."""
