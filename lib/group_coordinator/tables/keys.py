"""What identifies a row of the compacted tables."""

from __future__ import annotations

GROUP_KEY = ("cluster_id", "group_id")
MEMBER_KEY = (*GROUP_KEY, "member_id")
OFFSET_KEY = (*GROUP_KEY, "topic", "partition")
