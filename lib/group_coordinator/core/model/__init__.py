"""The nouns of the state machine: data and questions."""
