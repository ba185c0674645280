"""One API, one file: `decide(group, request, context, config)` decides what a request changes and what is answered; nothing changes yet."""
