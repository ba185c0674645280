"""ACLs: the operations that brokers allow a client on groups and topics."""
