"""The coordinator's and compaction's queries: source, the outputs of a batch, outages and the idle back-off. The mirror has its own query."""
