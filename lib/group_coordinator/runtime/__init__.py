"""The core in operation, without Spark: the handling of an event, a call of the operator, and `replay-events`.

`event_handling.py` handles an event; `group_call.py` and `update_group.py` are a call: packed events in, output lines out.
"""
