"""Trust in files by their owner. Loading an artifact runs it, so trust is ownership, never a checksum.

A folder or file must belong to this user (for a read-only cache also to root) and no one else may write to it.
"""

from __future__ import annotations

import os
import stat

ROOT = 0


def own() -> frozenset[int]:
    """Return the uids whose files this process may load from its own cache; empty if the system has no uids."""
    return frozenset({os.geteuid()}) if hasattr(os, "geteuid") else frozenset()


def own_or_root() -> frozenset[int]:
    """Return the uids whose files this process may load from a read-only cache."""
    return own() | {ROOT} if own() else frozenset()


def distrust(status: os.stat_result, owners: frozenset[int]) -> str:
    """Return why a file or folder with this status must not be used, or an empty string. Without owners, all may be."""
    if not owners:
        return ""
    if status.st_uid not in owners:
        return f"belongs to another user (uid {status.st_uid})"
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return f"can be written by other users (mode {stat.S_IMODE(status.st_mode):03o}; try chmod go-w)"
    return ""
