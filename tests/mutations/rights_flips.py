"""Rules of who may do what."""

from __future__ import annotations

from tests.mutations.flip import Flip

_AUTHORIZER, _ADMISSION = "acls.py", "coordinator.py"

RIGHTS = (
    Flip(
        "a denial counts only where nothing is allowed",
        _AUTHORIZER,
        "                if verdict.denied & bit:\n",
        "                if verdict.denied & bit and not is_allowed:\n",
    ),
    Flip(
        "who must not read must not describe",
        _AUTHORIZER,
        "    if rule.permission is Permission.ALLOW and rule.operation in _ALSO_ALLOWED:\n",
        "    if rule.operation in _ALSO_ALLOWED:\n",
    ),
    Flip(
        "a prefix is never the whole name",
        _AUTHORIZER,
        "            if length > len(name):\n",
        "            if length >= len(name):\n",
    ),
    Flip(
        "what rules name is open to those whom they do not name",
        _AUTHORIZER,
        "        return is_allowed if is_named else self._open\n",
        "        return is_allowed or self._open\n",
    ),
    Flip(
        "the group comes before the transactional id",
        _ADMISSION,
        "            yield ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED, [on_id]\n",
        "            yield ErrorCode.GROUP_AUTHORIZATION_FAILED, [on_id]\n",
    ),
    Flip(
        "a sync without its protocol needs rights first",
        _ADMISSION,
        "            return  # SyncGroup without a protocol fails for that reason alone\n",
        "            pass\n",
    ),
    Flip(
        "anybody tells of topics",
        _ADMISSION,
        "        case Tick() | AlterConfigs():\n",
        "        case Tick() | AlterConfigs() | TopicMetadata():\n",
    ),
    Flip(
        "a pattern matches topics that nobody may see",
        "consumer/regexes.py",
        "    if rights is None:\n        return topics\n    return [name for name in topics if",
        "    return [name for name in topics if rights is None or name or",
    ),
    Flip(
        "a fetch of all shows all",
        "handlers/offset_fetch.py",
        "        topics = _shown(_all_topics(group), rights)\n",
        "        topics = _shown(_all_topics(group), None)\n",
    ),
    Flip(
        "denied topics of a fetch tell of transactions",
        "handlers/offset_fetch.py",
        "        topics = [_without_unstable(group, topic) for topic in topics]\n",
        "        topics = [_without_unstable(group, topic) for topic in (*topics, *refused)]\n        refused = []\n",
    ),
    Flip(
        "rights come before the shape of settings",
        "handlers/alter_configs.py",
        "        check_form(request.changes)\n        _check_rights(group.group_id, context.rights)\n",
        "        _check_rights(group.group_id, context.rights)\n        check_form(request.changes)\n",
    ),
)
