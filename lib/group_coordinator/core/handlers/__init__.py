"""Handlers, a file for each API: `decide(group, request, context, config)` returns records and responses, and changes nothing."""
