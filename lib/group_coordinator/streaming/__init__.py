"""The only package that meets Structured Streaming and pandas."""
