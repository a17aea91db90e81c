"""The files that an agent's program wrote while it worked on a task. Reads none of them."""

import os
from collections.abc import Mapping

from preheat.agents import places_of


def stamps(agent: str, environment: Mapping[str, str]) -> dict[str, str]:
    """The agent's files and databases with their stamps, before a run."""
    places = places_of(agent)
    return {found.path: found.stamp for root in places.roots(environment) for found in places.discover(root)}


def written(agent: str, environment: Mapping[str, str], before: Mapping[str, str], record: str = "") -> list[str]:
    """Those that are new or changed since; and `record`, where a program without a place of its own was told to write."""
    found = [path for path, stamp in stamps(agent, environment).items() if before.get(path) != stamp]
    return sorted([*found, *([record] if record and os.path.exists(record) else [])])
