"""The data of the state machine: groups, members, records, requests and responses."""
