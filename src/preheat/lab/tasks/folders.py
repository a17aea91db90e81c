"""The folder that a task is worked on in: an empty one, or a copy of a project. Knows no agent."""

import os
import shutil

from preheat.errors import UserError


def make_folder(own: str, project: str, task: str) -> str:
    """Make a new folder below `own`, which is emptied first, with a copy of the project if there is one. It has the project's
    name, by which lessons call it."""
    shutil.rmtree(own, ignore_errors=True)
    folder = os.path.join(own, os.path.basename(project) or "work")
    try:
        if project:
            shutil.copytree(project, folder, symlinks=True)
        else:
            os.makedirs(folder)
    except (OSError, shutil.Error) as error:
        shutil.rmtree(own, ignore_errors=True)
        raise UserError(f"`{project or folder}` cannot be copied for task `{task}`: {_first(error)}") from error
    return folder


def _first(error: Exception) -> str:
    """Why, in a few words: copying a folder gathers all its faults in one list."""
    faults = error.args[0] if error.args else ""
    if isinstance(faults, list) and faults:
        source, _, why = faults[0]
        return f"`{source}`: {why}"
    return str(error)
