"""Channel of requests and responses over the two topics."""
