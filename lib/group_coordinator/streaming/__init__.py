"""The coordinator's and compaction's streaming queries, their outputs and checkpoints."""
