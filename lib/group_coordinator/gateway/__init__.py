"""Proxy between Kafka's clients, the brokers and the job: the job answers group APIs, the brokers all other APIs."""
