"""Ports, variables and generated files that a project's files name: compose files, examples of environments, attributes. Pure."""

import re

from preheat.manifests.scripts import LARGEST

_COMPOSE = re.compile(r"(?:^|/)(?:docker-)?compose[\w.-]*\.ya?ml$")
_SERVICE = re.compile(r"^  (?P<name>[A-Za-z][\w.-]{0,39}):[ \t]*$")
_PORT = re.compile(r"^\s*-\s*[\"']?(?:[\d.]+:)?(?:\$\{\w+:-)?(?P<port>\d{2,5})\}?:\d{2,5}[\"']?\s*$")
_ENVIRONMENT = re.compile(
    r"(?:^|/)\.?env(?:\.[\w-]+)*\.(?:example|sample|template|dist)$|(?:^|/)\.env\.(?:example|sample|template|dist|local\.example)$"
    r"|(?:^|/)\.(?:dev\.vars|envrc|secrets)\.(?:example|sample|template)$"
)
_ASSIGNED = re.compile(r"^(?P<off>#\s?)?(?:export\s+)?(?P<name>[A-Z][A-Z0-9_]{1,47})=(?P<value>[^\n]*)$", re.MULTILINE)
_GENERATED = re.compile(r"^(?P<pattern>\S+)[ \t][^\n]*\blinguist-generated\b(?!=false)", re.MULTILINE)
_HEADER = re.compile(
    r"(?i)(?:code generated\b.{0,120}\bdo not edit|@generated\b|auto-?generated\b.{0,80}(?:do not|don't) (?:edit|modify)"
    r"|(?:do not|don't) (?:edit|modify)\b.{0,60}\bgenerated|this file (?:is|was) (?:auto-?)?(?:matically )?generated)",
    re.DOTALL,
)
_HEAD = 400


def is_compose(path: str) -> bool:
    """Whether a file describes services of containers."""
    return bool(_COMPOSE.search(path))


def read_ports(text: str) -> tuple[tuple[str, str], ...]:
    """The services of a compose file with the first port that each opens on this machine."""
    _, found, below = ("\n" + text).partition("\nservices:")
    if not found or len(text) > LARGEST:
        return ()
    services: dict[str, str] = {}
    name = ""
    for line in below.splitlines():
        if line and not line.startswith((" ", "#")):
            break
        if service := _SERVICE.match(line):
            name = service["name"]
        elif name and (port := _PORT.match(line)):
            services.setdefault(name, port["port"])
    return tuple(services.items())[:20]


def read_services(text: str) -> tuple[str, ...]:
    """The services of a compose file."""
    _, found, below = ("\n" + text).partition("\nservices:")
    if not found or len(text) > LARGEST:
        return ()
    names: dict[str, None] = {}
    for line in below.splitlines():
        if line and not line.startswith((" ", "#")):
            break
        if service := _SERVICE.match(line):
            names[service["name"]] = None
    return tuple(names)[:20]


def is_environment_example(path: str) -> bool:
    """Whether a file is an example of a file of variables; the real one is not read."""
    return bool(_ENVIRONMENT.search(path))


def read_variable_names(text: str) -> tuple[tuple[str, bool], ...]:
    """The names of the variables in an example, each with whether it is to be filled in; never a value."""
    if len(text) > LARGEST:
        return ()
    found: dict[str, bool] = {}
    for each in _ASSIGNED.finditer(text):
        value = each["value"].split(" #")[0].strip().strip("\"'")
        placeholder = (
            not value or re.search(r"(?i)your|change|xxx|<|\.\.\.|replace|todo|secret|example", value) is not None
        )
        if not each["off"]:
            found.setdefault(each["name"], placeholder)
    return tuple(found.items())[:60]


def read_generated_patterns(text: str) -> tuple[str, ...]:
    """The patterns of files that `.gitattributes` calls generated."""
    return tuple(dict.fromkeys(_GENERATED.findall(text)))[:20] if len(text) <= LARGEST else ()


def is_generated(text: str) -> bool:
    """Whether the beginning of a file says that a program wrote it and nobody should edit it."""
    return bool(_HEADER.search(text[:_HEAD]))
