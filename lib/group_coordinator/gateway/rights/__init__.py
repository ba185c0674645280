"""What a caller may do with groups and topics, as the brokers say."""
