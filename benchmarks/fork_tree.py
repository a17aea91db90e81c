"""The working tree of a recorded session: its start commit in a bare repository, plus what the session's own calls did to it.

What cannot be known from there is `unknown`: ignored files, paths outside of the project, everything after a command that may
change any file, and paths that a result showed although the commit does not have them.
"""

import re
import subprocess
from collections import defaultdict
from collections.abc import Sequence
from fnmatch import fnmatch
from posixpath import basename, dirname, join, normpath, splitext

from preheat.answers.edit_text import read_edits
from preheat.answers.values import PathKind, PlannedCall, is_below
from preheat.calls.files import find_touches
from preheat.calls.judged import JudgedCall
from preheat.calls.shell import read_shell
from preheat.commands import command_text, understand
from preheat.safe_text.paths import make_paths_relative

_GENERATED = frozenset(
    [
        "node_modules",
        "dist",
        "build",
        "out",
        "target",
        "coverage",
        "tmp",
        "temp",
        "logs",
        "log",
        ".git",
        ".venv",
        "venv",
        "vendor",
        ".next",
        ".cache",
        ".tox",
        "bin",
        "obj",
        ".turbo",
        "__pycache__",
        ".env",
        ".idea",
        ".vscode",
        ".claude",
        ".context",
        ".planning",
    ]
)
_SHOWN = re.compile(r"[\w.@+/-]{2,200}")
_PRINTED = re.compile(
    r"(?:sed -n ['\"](?P<first>\d+),(?P<last>\d+)p['\"]|cat|(?P<numbered>nl -ba)) (?P<path>[\w./@+-]+)"
    r"(?(numbered)(?: \| sed -n ['\"]\d+,\d+p['\"])?)"
)
_NUMBERED = re.compile(r"^ *(\d+)(?:→|\t)(.*)$", re.MULTILINE)
_NUMBERED_BY_COLON = re.compile(r"^(?:<content>)?0*(\d+)(?:: |\| )(.*)$", re.MULTILINE)
_MAKING = frozenset(["package", "run", "build", "format", "network", "other", "test", "lint"])
_MOST_SHOWN = 200_000


def _parents(path: str) -> list[str]:
    found = []
    while path := dirname(path):
        found.append(path)
    return found


class Repository:
    """A bare repository."""

    def __init__(self, path: str) -> None:
        self._path = path

    def git(self, *words: str) -> bytes:
        done = subprocess.run(["git", f"--git-dir={self._path}", *words], capture_output=True, check=False)
        return done.stdout if done.returncode == 0 else b""

    def commit_before(self, seconds: float) -> str:
        return self.git("rev-list", "-1", f"--before={int(seconds)}", "HEAD").decode().strip()

    def files_changed_since(self, since: float) -> frozenset[str]:
        """Files that any branch changed from a time on: they may have stood in the working tree before or without a commit."""
        names = self.git("log", "--all", f"--since={int(since)}", "--name-only", "-z", "--format=").split(b"\0")
        return frozenset(name.decode("utf-8", "surrogateescape").strip("\n") for name in names if name)

    def files(self, commit: str) -> list[str]:
        names = self.git("ls-tree", "-r", "-z", "--name-only", commit).split(b"\0")
        return [name.decode("utf-8", "surrogateescape") for name in names if name]

    def text(self, commit: str, path: str) -> str | None:
        data = self.git("cat-file", "blob", f"{commit}:{path}")
        return data.decode("utf-8", "replace") if data and b"\0" not in data[:8000] and len(data) < 2_000_000 else None


class RecordedTree:
    """The files of a session as they are after the calls so far."""

    def __init__(
        self,
        repository: Repository,
        commit: str,
        session_folder: str,
        doubtful: frozenset[str] = frozenset(),
        opened: Sequence[str] = (),
    ) -> None:
        """`doubtful`: files that may have been there, or have had another text, without the commit saying so; `opened`: absolute
        paths that the session read."""
        self._doubtful = doubtful
        self._repository, self._commit = repository, commit
        self._files = set(repository.files(commit))
        self._folders = {""}
        for path in self._files:
            self._add_folders(path)
        self.root = self._find_root(session_folder, opened)
        self._texts: dict[str, str | None] = {}
        self._texts_made: set[str] = set()
        self._removed: set[str] = set()
        self._shown: set[str] = set()
        for path in doubtful:
            while path and path not in self._shown:
                self._shown.add(path)
                path = dirname(path)
        self._is_swept = False
        self._ignored = [
            line.strip().strip("/") for path in self._files if basename(path) == ".gitignore"
            for line in (repository.text(commit, path) or "").splitlines() if line.strip() and line[0] not in "#!"
        ]  # fmt: skip
        self._by_name: defaultdict[str, set[str]] = defaultdict(set)
        self._by_stem: defaultdict[str, set[str]] = defaultdict(set)
        for path in (*self._files, *self._folders):
            self._index(path)

    def _find_root(self, folder: str, opened: Sequence[str]) -> str:
        """The folder of the repository on the machine of the session, which may have worked below it: the one below which most of
        the opened files are in the commit, the session's own where that says nothing."""
        parts = folder.rstrip("/").split("/")
        above = [
            "/".join(parts[:start])
            for start in range(len(parts) - 1, 1, -1)
            if "/".join(parts[start:]) in self._folders
        ]
        known = {
            root: sum(path.removeprefix(f"{root}/") in self._files for path in opened)
            for root in (folder.rstrip("/"), *above)
        }
        return max(known, key=lambda root: known[root])

    def _add_folders(self, path: str) -> None:
        while path := dirname(path):
            if path in self._folders:
                return
            self._folders.add(path)

    def _index(self, path: str) -> None:
        if path:
            self._by_name[basename(path).lower()].add(path)
            if path in self._files:
                self._by_stem[splitext(basename(path))[0].lower()].add(path)

    # What the rules ask.
    def kind(self, path: str) -> PathKind:
        if not is_below(path, self.root):
            return "unknown"
        relative = path[len(self.root) :].strip("/")
        if relative in self._removed:
            return "none"
        if relative in self._files:
            return "file"
        if relative in self._folders:
            return "folder"
        if any(relative.startswith(f"{path}/") for path in _parents(relative) if path in self._files):
            return "unknown"  # below a link
        return "unknown" if self._is_swept or self._is_ignored(relative) or relative in self._shown else "none"

    def _is_ignored(self, relative: str) -> bool:
        parts = relative.split("/")
        if not _GENERATED.isdisjoint(parts) or any(part.startswith(".env") for part in parts):
            return True
        if any(part.startswith(".") for part in parts[:-1]):
            return True  # what tools keep in folders of their own is often not under version control
        return any(fnmatch(part, line) for line in self._ignored for part in parts) or any(
            relative.startswith(f"{line}/") or relative == line for line in self._ignored
        )

    def find_dead_link(self, path: str) -> str:
        """Where the links of a recorded session led is not known."""
        return ""

    def names_in(self, folder: str) -> tuple[str, ...] | None:
        if self.kind(folder) != "folder":
            return None
        relative = folder[len(self.root) :].strip("/")
        start = f"{relative}/" if relative else ""
        names = {path[len(start) :].split("/")[0] for path in self._files if path.startswith(start)}
        return tuple(sorted(names))

    def find(self, name: str) -> tuple[str, ...]:
        return tuple(sorted(join(self.root, path) for path in self._by_name[name.lower()] if self._is_there(path)))

    def find_stem(self, stem: str) -> tuple[str, ...]:
        return tuple(sorted(join(self.root, path) for path in self._by_stem[stem.lower()] if self._is_there(path)))

    def _is_there(self, path: str) -> bool:
        return path in self._files or path in self._folders

    def read_text(self, path: str) -> str | None:
        relative = path[len(self.root) :].strip("/") if is_below(path, self.root) else ""
        if relative not in self._files:
            return None
        if relative not in self._texts:
            is_known = not self._is_swept and relative not in self._doubtful
            self._texts[relative] = self._repository.text(self._commit, relative) if is_known else None
        return self._texts[relative]

    def find_program(self, name: str) -> str:
        """What was installed on the machine of a recorded session is not known."""
        return ""

    def find_listener(self, port: int) -> None:
        """What ran on it is not known either."""

    # What calls do.
    def apply(self, each: JudgedCall, planned: PlannedCall) -> None:
        """The tree after a call."""
        call, result = each.call, each.result
        text = result.text if result is not None else ""
        done = each.worked or (each.failed and each.record.cause == "finding") or each.record.status == "unknown"
        relative = lambda typed: make_paths_relative(typed, self.root, planned.folder)  # noqa: E731
        if call.kind == "shell":
            if each.worked:
                self._take_printed(command_text(call.input), text, planned.folder)
            self._apply_command(command_text(call.input), relative, each, done, planned.folder)
        elif call.kind == "read" and each.worked:
            self._check_text(planned, text)
        elif done and call.kind in ("edit", "write"):
            self._apply_change(each, planned)
        if each.worked:
            self._note_shown(text)

    def _apply_command(self, command: str, relative: object, each: JudgedCall, done: bool, folder: str) -> None:
        assert callable(relative)
        for touch in find_touches(each.call, relative) if done else ():
            path = self._from_folder(touch.path, folder)
            if touch.how == "removed":
                self._remove(path)
            elif touch.how != "read":
                self._make(path, None)
        use = read_shell(command)
        commands = understand(command).commands
        if use.sweeps or any(name.program in ("unzip", "tar", "git-lfs", "rsync") for name in commands):
            self._is_swept = True
            self._texts = {}
        elif any(each.purpose in _MAKING for each in commands) and any(
            word in command
            for word in ("--fix", "--write", "fmt", "format", "generate", "codegen", "sed -i", "--update", "perl")
        ):
            self._texts = dict.fromkeys(self._files)
        for each_command in commands:
            if each_command.program in ("mkdir", "touch", "cp", "mv", "ln"):
                for word in each_command.words[1:]:
                    if not word.startswith("-"):
                        self._shown.add(self._from_folder(relative(word), folder))

    def _from_folder(self, path: str, folder: str) -> str:
        below = folder[len(self.root) :].strip("/") if is_below(folder, self.root) else ""
        direct = normpath(path)
        return direct if not below or self._is_there(direct) else normpath(join(below, path))

    def _apply_change(self, each: JudgedCall, planned: PlannedCall) -> None:
        edits = read_edits(planned)
        for edit in edits:
            path = self._relative(planned.absolute(edit.path))
            text = self.read_text(join(self.root, path)) if path else None
            if text is None or edit.old not in text:
                text = None
            else:
                text = text.replace(edit.old, edit.new, -1 if edit.everywhere else 1)
            if path:
                self._make(path, text)
        for touch in find_touches(each.call, lambda typed: make_paths_relative(typed, self.root, planned.folder)):
            if touch.how == "removed":
                self._remove(touch.path)
            elif not edits or touch.path not in self._files:
                content = each.call.input.get("content")
                self._make(touch.path, content if isinstance(content, str) else None)

    def _check_text(self, planned: PlannedCall, shown: str) -> None:
        """Take over what a read shows of a file."""
        named = next(
            (planned.arguments.get(name) for name in ("file_path", "path", "filePath") if planned.arguments.get(name)),
            "",
        )
        path = self._relative(planned.absolute(str(named)))
        pattern = _NUMBERED_BY_COLON if "<content>" in shown[:1000] or "<file>" in shown[:1000] else _NUMBERED
        lines = [(int(number), text) for number, text in pattern.findall(shown)]
        if not path or not lines:
            return
        if (
            not (planned.arguments.get("offset") or planned.arguments.get("limit") or pattern is _NUMBERED_BY_COLON)
            and lines[0][0] == 1
            and len(lines) < 1990
        ):
            self._make(path, "\n".join(text for _, text in lines))
        else:
            self._confirm(path, lines)

    def _confirm(self, path: str, lines: list[tuple[int, str]]) -> None:
        """Take the text of the start commit for a file's if the shown lines are in it at their places, else know nothing."""
        known = self.read_text(join(self.root, path))
        text = known if known is not None or path in self._texts_made else self._repository.text(self._commit, path)
        there = (text or "").split("\n")
        if text is None or any(
            number > len(there) or there[number - 1].rstrip("\r") != shown for number, shown in lines
        ):
            self._make(path, None)
        else:
            self._texts[path] = text

    def _take_printed(self, command: str, text: str, folder: str) -> None:
        """Take over what a command line prints of files by `sed -n`, `cat` and `nl`, one after another as far as can be told."""
        parts = [_PRINTED.fullmatch(part.strip()) for part in command.strip().replace("\n", "&&").split("&&")]
        if "\n[" in text or "truncated" in text or "tokens" in text[:300]:
            return
        body = text.partition("Output:\n")[2] if "Output:\n" in text[:400] else text
        shown = body.rstrip("\n").split("\n")
        for found in parts:
            path = self._relative(normpath(join(folder, found["path"]))) if found else ""
            if found is None or not path or not shown:
                return
            if found["numbered"]:
                lines = [(int(number), line) for number, line in _NUMBERED.findall("\n".join(shown))]
                if len(parts) == 1 and lines:
                    self._confirm(path, lines)
                return
            if not found["first"]:
                if len(parts) == 1 and len(shown) > 1:
                    self._make(path, "\n".join(shown))
                return
            first, last = int(found["first"]), int(found["last"])
            own = shown if len(parts) == 1 else shown[: self._count_lines(path, first, last)]
            if not own:
                return
            self._confirm(path, [(first + number, line) for number, line in enumerate(own)])
            shown = shown[len(own) :]

    def _count_lines(self, path: str, first: int, last: int) -> int:
        """How many of some lines a file has, by its text as it is known or was committed."""
        known = self.read_text(join(self.root, path))
        text = known if known is not None else self._repository.text(self._commit, path)
        return max(0, min(last, len((text or "").rstrip("\n").split("\n"))) - first + 1)

    def _relative(self, path: str) -> str:
        return path[len(self.root) :].strip("/") if path and is_below(path, self.root) else ""

    def _make(self, path: str, text: str | None) -> None:
        self._removed.discard(path)
        self._texts_made.add(path)
        self._files.add(path)
        self._add_folders(path)
        self._index(path)
        self._texts[path] = text

    def _remove(self, path: str) -> None:
        gone = {each for each in (*self._files, *self._folders) if each == path or each.startswith(f"{path}/")}
        self._files -= gone
        self._folders -= gone
        self._removed |= gone

    def _note_shown(self, text: str) -> None:
        for word in _SHOWN.findall(text[:_MOST_SHOWN]):
            path = word.strip("./") if not word.startswith(self.root) else word[len(self.root) :].strip("/")
            if "/" in path or "." in path:
                self._shown.add(path)
