"""Everything that touches Structured Streaming: source, queries, the outputs of a batch, outages and the idle back-off."""
