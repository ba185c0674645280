"""The connection of a peer: frames, pipeline, forwarding and limits."""
