"""A proxy before a Kafka cluster: the job answers what is about groups, the brokers answer all else."""
