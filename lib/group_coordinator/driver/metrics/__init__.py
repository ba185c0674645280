"""What Prometheus reads of a run: Kafka's meters and gauges, lag, and how the job itself is."""
