"""The bytes of one client: frames in, answers out in order, and what is relayed."""
