"""Addresses of remote repositories in one form: `host/owner/name`, without user, password, port, protocol and ending.

Knows no file and no project. A folder is no address.
"""

import re
from functools import lru_cache

_LONGEST = 300
_URL = re.compile(
    r"(?i)^(?:git\+)?(?:ssh|https?|git)(?:\+git|\+ssh)?://(?:[^/?#\s]*@)?(\[[0-9a-f:.]+\]|[^/:?#@\s]+)(?::\d*)?/([^?#\s]*)"
)
_SHORT = re.compile(r"^(?:[^@/:\s]*@)?([\w-][\w.-]+):(?!//)([^?#\s]+)$")
_PLAIN = re.compile(r"(?i)^((?:[\w-]+\.)+[a-z]{2,})/([^?#\s@:]+)$")
_PART = re.compile(r"[\w.~+%-]+")
_SAME_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.bitbucket.org": "bitbucket.org",
    "altssh.gitlab.com": "gitlab.com",
}
"""Other names of a host, which take the place of a blocked port."""


@lru_cache(maxsize=1024)
def normalise_remote(address: str) -> str:
    """An address in the form `host/owner/name`; empty if it is none, such as a folder or a bundle."""
    text = address.strip()
    if not text or len(text) > _LONGEST or not text.isprintable():
        return ""
    found = _URL.match(text) or _SHORT.match(text) or _PLAIN.match(text)
    if found is None:
        return ""
    host = found[1].lower().strip("[]").removeprefix("www.").rstrip(".")
    parts = [part for part in found[2].split("/") if part]
    if parts:
        parts[-1] = parts[-1].removesuffix(".git")
    if not host or not parts or not all(_PART.fullmatch(part) and part.strip(".") for part in parts):
        return ""
    return "/".join([_SAME_HOSTS.get(host, host), *parts])
