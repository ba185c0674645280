"""The administrator's side of the protocol."""
