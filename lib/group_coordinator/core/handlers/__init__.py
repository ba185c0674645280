"""One API, one file: `decide(group, request, context, config)` says what a request comes to and changes nothing."""
