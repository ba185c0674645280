"""Groups on their way between the protocols: upgrade, downgrade.

Requests of classic members in a consumer group are handled here too.
"""
