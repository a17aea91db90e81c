"""Whether a path is the user's alone: nobody else (but root) can change what is found there, now or a moment later.

Each part of a path is looked at, links included. Where all belong to the user or to root, and nobody else can write to one,
others can change nothing on the way: what was found stays true when the path is opened. Access lists and network file systems
have further rules that are not looked at. On Windows, where folders of a person are private, everything passes.

Standard library only, and little of that: the hook client reads and runs this file.
"""

try:
    import posix
except ImportError:  # Windows
    posix = None  # type: ignore[assignment]

_LINK, _KIND, _STICKY = 0o120000, 0o170000, 0o1000
_FOLDER = 0o040000
_MOST_LINKS = 40
_UNMAPPED = 65534
"""Who owns the files of root in a sandbox that has no root."""


def explain_refusal(path: str, home: str | None = None) -> str:
    """Why a path is not the user's alone, and what to do; empty if it is. What does not exist yet is judged by what is above it.
    With a `home` the path must also be outside of repositories: they come from others. One around the home is the user's own."""
    if posix is None:
        return ""
    if path[:1] != "/":
        return "it is a relative path, which means another place in each folder; give the whole path"
    user = posix.geteuid()
    place, names, links = "", [*path.split("/")[::-1], "."], 0
    while names:
        name = names.pop()
        if name == "..":
            place = place.rpartition("/")[0]
        if name in ("", ".."):
            continue
        found = f"{place}/{name}" if name != "." else place or "/"
        try:
            status = posix.lstat(found)
            target = posix.readlink(found) if status.st_mode & _KIND == _LINK else ""
        except FileNotFoundError:
            return ""
        except OSError as error:
            return f"`{found}` cannot be looked at ({error.strerror}); choose another folder"
        if status.st_uid not in (0, user) and not _is_unmapped_root(status.st_uid):
            return _explain_owner(found, status.st_uid, user)
        if target:
            links += 1
            if links > _MOST_LINKS:
                return f"the links at `{found}` lead in a circle; remove them"
            place = "" if target[0] == "/" else place
            names += target.split("/")[::-1]
            continue
        if not _is_closed(status, user, is_on_the_way=True):
            return _explain_mode(found)
        if home is not None and not f"{home}/".startswith(f"{found.rstrip('/')}/") and _exists(f"{found}/.git"):
            return f"it is in the repository `{found}`, and a repository's own files control nothing; choose a folder elsewhere"
        place = found.rstrip("/")
    status = posix.lstat(place or "/")
    if status.st_uid != user:
        return _explain_owner(place, status.st_uid, user)
    return "" if _is_closed(status, user, is_on_the_way=False) else _explain_mode(place)


def _explain_owner(found: str, owner: int, user: int) -> str:
    """Who owns what the user does not; root is told that `sudo` is the likely reason."""
    if user == 0:
        return f"you are root, and `{found}` belongs to user {owner}; run it without `sudo`, or set PREHEAT_HOME"
    if owner == 0:
        return f"`{found}` belongs to root; `sudo chown -R $(id -u) {found}` gives it to you"
    return f"`{found}` belongs to user {owner}, not to you; choose a folder of your own with PREHEAT_HOME"


def _explain_mode(found: str) -> str:
    return f"others can write to `{found}`; look at what is in there, then `chmod go-w` it"


def _is_closed(status: "posix.stat_result", user: int, is_on_the_way: bool) -> bool:
    """Whether others can change nothing here, perhaps although its mode lets a group or everybody write."""
    if not status.st_mode & 0o022:
        return True
    if status.st_mode & _STICKY and status.st_mode & _KIND == _FOLDER and is_on_the_way:
        return True  # as /tmp: one cannot touch what others have there
    return not status.st_mode & 0o002 and (status.st_gid == 0 or _is_private_group(status.st_gid, user))


def _is_private_group(group: int, user: int) -> bool:
    """Whether a group has the user alone: many systems give each user such a group, of the same number."""
    if group != user:
        return False
    import grp  # noqa: PLC0415 - rarely needed
    import pwd  # noqa: PLC0415 - the same

    try:
        return set(grp.getgrgid(group).gr_mem) <= {pwd.getpwuid(user).pw_name}
    except KeyError:
        return True


def _is_unmapped_root(owner: int) -> bool:
    """Whether we are in a sandbox that shows root's files as nobody's."""
    if owner != _UNMAPPED or posix is None:
        return False
    try:
        descriptor = posix.open("/proc/self/uid_map", posix.O_RDONLY)
    except OSError:
        return False
    try:
        first = posix.read(descriptor, 4096).split()
    finally:
        posix.close(descriptor)
    return first[:2] != [b"0", b"0"]


def _exists(path: str) -> bool:
    try:
        posix.lstat(path)
    except OSError:
        return False
    return True
