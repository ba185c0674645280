"""Identity of the caller: the login is forwarded unchanged, and its messages are read."""
