"""The data of the state machine: groups, members, records, requests, responses, and the transition table (`classic_member.py`)."""
