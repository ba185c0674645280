"""Members of the classic protocol inside a consumer group: what JoinGroup, SyncGroup, Heartbeat and LeaveGroup do there."""
