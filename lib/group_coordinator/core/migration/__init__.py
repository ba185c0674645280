"""Members of the classic protocol in a consumer group: their requests, and the conversion of groups between the two types."""
