"""Prometheus metrics of a run: Kafka's meters and gauges, lag, and the state of the job."""
