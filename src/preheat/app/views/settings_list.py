"""Every setting of `settings.toml` with what it does, and changing one. Knows no screen.

What a setting does is said once, beneath its field in the code; it is read from there. A change is one line of the file; the
rest, comments too, stays as it is.
"""

import ast
import inspect
import os
import re
import tomllib
import typing
from collections.abc import Callable
from itertools import pairwise
from typing import Any, NamedTuple

import msgspec

from preheat.app.experiments.assignment import DEFAULT_SETTINGS, load_assignment_settings
from preheat.app.live.settings import NO_ACTIONS, load_actions, load_thresholds
from preheat.app.team.settings import TeamSettings, load_team_settings
from preheat.app.trees import Trees, TreeSettings
from preheat.archive.address import ServerAddress
from preheat.archive.server_settings import DEFAULTS as SERVER
from preheat.archive.server_settings import load_server_settings
from preheat.errors import UserError
from preheat.files import make_private_folder, read_text, write_atomically
from preheat.limits import DEFAULTS as LIMITS
from preheat.limits import load_limits
from preheat.live.signal import DEFAULTS as THRESHOLDS
from preheat.model.views import ChangedSetting, Setting, SettingList
from preheat.settings_file import SETTINGS, read_section

LONGEST_VALUE = 500


class Section(NamedTuple):
    """Some settings below one heading: their defaults, and how they are read."""

    heading: str
    defaults: msgspec.Struct
    load: Callable[[str], msgspec.Struct]


SECTIONS = (
    Section("live", NO_ACTIONS, load_actions),
    Section("experiment", DEFAULT_SETTINGS, load_assignment_settings),
    Section("tree", TreeSettings(), lambda folder: Trees(folder).settings()),
    Section("team", TeamSettings(), load_team_settings),
    Section("live", THRESHOLDS, load_thresholds),
    Section("limits", LIMITS, load_limits),
    Section("archive", SERVER, load_server_settings),
)
"""Choices first, numbers after them."""


class Settings:
    """The person's settings in Preheat's folder."""

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def describe_all(self) -> SettingList:
        """Every setting, and what is wrong with the file: then the defaults hold."""
        found: list[Setting] = []
        faults: dict[str, None] = {}
        for section in SECTIONS:
            current, written = section.defaults, {}
            try:
                written = read_section(self._folder, section.heading)
                current = section.load(self._folder)
            except UserError as error:
                faults[str(error)] = None
            abouts = _read_abouts(type(section.defaults))
            hints = typing.get_type_hints(type(section.defaults))
            found += [
                Setting(
                    heading=section.heading,
                    name=name,
                    value=write_value(_hide_password(section.heading, name, getattr(current, name))),
                    default=write_value(getattr(section.defaults, name)),
                    is_set=name in written,
                    choices=_list_choices(hints[name]),
                    about=abouts.get(name, ""),
                )
                for name in section.defaults.__struct_fields__
            ]
        return SettingList(path=os.path.join(self._folder, SETTINGS), settings=tuple(found), faults=tuple(faults))

    def find(self, heading: str, name: str) -> Setting:
        """One setting. Raises UserError if there is none."""
        for each in self.describe_all().settings:
            if (each.heading, each.name) == (heading, name):
                return each
        raise UserError(f"there is no setting `{name[:60]}` below `[{heading[:60]}]`")

    def change(self, heading: str, name: str, value: str) -> ChangedSetting:
        """Set a setting to a value as it is written in the file; empty takes it out, and the default holds. Raises UserError if
        it is no value for it; then nothing is changed."""
        self.find(heading, name)
        path = os.path.join(self._folder, SETTINGS)
        before = _read(path)
        wanted = _parse_value(name, value) if value.strip() else None
        had = _parse(before, path).get(heading, {}).get(name)
        after = change_line(before, heading, name, value.strip())
        self._check(_parse(before, path), _parse(after, path), heading, name, wanted)
        try:
            make_private_folder(self._folder)
            write_atomically(path, after.encode(), like=path)
        except OSError as error:
            raise UserError(f"`{path}` cannot be written: {error.strerror}; check its owner and permissions") from error
        try:
            for section in SECTIONS:
                if section.heading == heading:
                    section.load(self._folder)
        except UserError as error:
            write_atomically(path, before.encode(), like=path)
            raise UserError(f"`{value[:80]}` is not possible: {error}") from error
        return ChangedSetting(
            heading=heading,
            name=name,
            before="" if had is None else write_value(_hide_password(heading, name, had)),
            after=write_value(_hide_password(heading, name, wanted)) if wanted is not None else "",
        )

    def _check(self, before: dict[str, Any], after: dict[str, Any], heading: str, name: str, wanted: object) -> None:
        """Raise UserError unless the two differ in this setting only."""
        section = {**before.get(heading, {}), name: wanted}
        if wanted is None:
            del section[name]
        if {**before, heading: section} != {**before, **after, heading: after.get(heading, {})}:
            raise UserError(
                f"`{SETTINGS}` is written in a way that cannot be changed here; change `{name}` in the file itself"
            )


def _hide_password(heading: str, name: str, value: Any) -> Any:
    """A value as it may be shown: the address of a server without its password."""
    is_address = (heading, name) == ("archive", "address") and isinstance(value, str) and value
    return ServerAddress(value).shown if is_address else value


def change_line(text: str, heading: str, name: str, value: str) -> str:
    """A TOML text with one setting changed; empty: taken out."""
    lines = text.split("\n")
    start = next((place for place, line in enumerate(lines) if line.split("#")[0].strip() == f"[{heading}]"), None)
    if start is None:
        return text if not value else f"{text.rstrip()}\n\n[{heading}]\n{name} = {value}\n".lstrip("\n")
    end = next((place for place in range(start + 1, len(lines)) if lines[place].lstrip().startswith("[")), len(lines))
    at = next((place for place in range(start + 1, end) if re.match(rf"\s*{re.escape(name)}\s*=", lines[place])), None)
    if at is None:
        lines[start + 1 : start + 1] = [f"{name} = {value}"] if value else []
    else:
        lines[at : at + 1] = [f"{name} = {value}"] if value else []
    return "\n".join(lines)


def write_value(value: Any) -> str:
    """A value as it is written in TOML."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, msgspec.Struct):
        value = msgspec.to_builtins(value)
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{name} = {write_value(each)}" for name, each in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(write_value, value)) + "]"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _parse_value(name: str, value: str) -> Any:
    if len(value) > LONGEST_VALUE or "\n" in value or "\r" in value:
        raise UserError(f"the value of `{name}` must be one line of at most {LONGEST_VALUE} characters")
    try:
        parsed = tomllib.loads(f"value = {value}")
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(
            f"`{value[:80]}` is no value: write a number, `true`, or a word in double quotes, as in `settings.toml`"
        ) from error
    if list(parsed) != ["value"]:
        raise UserError(f"`{value[:80]}` is more than one value")
    return parsed["value"]


def _parse(text: str, path: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise UserError(f"`{path}` is no TOML: {error}; repair it first") from error


def _read(path: str) -> str:
    try:
        return read_text(path)
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"`{path}` cannot be read: {error}") from error


def _list_choices(kind: Any) -> tuple[str, ...]:
    if kind is bool:
        return ("false", "true")
    if typing.get_origin(kind) is typing.Literal:
        return tuple(write_value(each) for each in typing.get_args(kind))
    return ()


def _read_abouts(kind: type) -> dict[str, str]:
    """What stands beneath each field of a struct, in the code."""
    try:
        tree = ast.parse(inspect.getsource(kind))
    except (OSError, TypeError):  # a build without its source
        return {}
    body = tree.body[0].body if isinstance(tree.body[0], ast.ClassDef) else []
    return {
        one.target.id: str(after.value.value)
        for one, after in pairwise(body)
        if isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)
        and isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant)
    }  # fmt: skip
