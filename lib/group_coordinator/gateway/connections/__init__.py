"""The connection of a peer: pipeline, forwarding and limits."""
