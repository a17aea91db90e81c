"""The slot for a command or a call: programs, subcommands, options, paths and placeholders, without free text.

Quoted texts with blanks, here-documents and the arguments of programs that print or record texts become `TEXT`, comments vanish,
substitutions become `$(…)`, addresses of other machines `URL`. Bare words are few: a command with more of them than programs and
subcommands explain is no command. Understands no shell: it only has to be sure of what it hands on. Light, so it does not use the
parser in `commands`.
"""

import re
from functools import lru_cache
from typing import NamedTuple

from preheat.safe_text.slots import SLOTS, fit_flag, fit_name, fit_path, fit_placeholder, fit_variable
from preheat.safe_text.words import CUT, count_unknown, cut_name, words_of

TEXT, URL = "TEXT", "URL"
_LONGEST = 240
_MOST_WORDS = 40
_MOST_COMMANDS = 6
_PLAIN_ROOM = 2
"""Bare words that are not known in one command."""
_PATH_ROOM = 6
"""Words that are not known in all paths and joined names of one command; a word that comes again counts once."""
_MOST_IN_ROW = 2
"""Bare words in a row that are no program and no subcommand, known or not."""

_COMMAND_WORDS = frozenset(
    """
    7z ack act actionlint add ag air alembic all ant apk apt apt-get artisan ast-grep astro audit awk aws az bash bat
    bazel bench biome black blame branch brew buf build bun bundle bunx bzip2 c8 cargo cat cd check checkout chmod chown
    ci clang clean clippy clone cmake cmp codegen command commit compose composer conda config container coverage cp
    create ctest curl cut cypress dart db deno describe dev dev:test diff dig dir django-admin dlx docker docker-compose
    doctor dotnet down drizzle-kit du dump echo edit egrep env esbuild eslint exec exit expand expo export fd fetch ffmpeg
    file find firebase fix flake8 flask flutter fmt force form format from function gcc gcloud gem generate get gh git
    gitleaks glab go gofmt gofumpt golangci-lint goreleaser gradle gradlew grep gulp gunicorn gunzip gzip head helm help
    hg history hk http httpie hugo hyperfine id images info init insert install integration isort issue java javac jest jj
    jobs jq js just k6 kill knip kotlinc kubectl learn lefthook lerna less lessons lint lint:fix linux list ll ln log
    login logs ls lsof main make man manage.py master maven merge migrate mise mkdir mocha mod mode more move mv mvn mvnw
    mypy nest netstat next ng nl node nox npm npx nvm nx nyc origin outdated package packages patch php phpunit ping pip
    pip3 pipenv pipx pkill playwright pnpm pod podman poetry pr pre-commit preheat prettier printenv printf prisma prod ps
    psql publish pull push pwd py.test pyenv pylint pyright pytest python python3 rails rake rbenv react-scripts read
    rebase redis-cli release remote remove report reset restart restore rev-parse review rg rm rmdir rollup rspec rsync
    rtk rubocop ruby ruff run rush rust rustc rustfmt rustup sass sbt scp sed serve server service session_search sessions
    set setup sh shellcheck shfmt show simctl sleep sort source sphinx-build sqlite3 ssh staging start stash stat status
    stop storybook stylelint sudo svelte-check swift swiftlint switch sync systemctl tag tail tar task tee templates
    terraform test tests time timeout tmux top touch tox tr tree true tsc tsup tsx turbo type typecheck uname uniq unit
    unset unzip up update upgrade uv uvicorn uvx verify version vet view vim vite vitest volta vue-tsc wait warm watch wc
    webpack wget which workspace workspaces xargs xcodebuild xcrun yarn yq zip zsh
    """.split()  # noqa: SIM905
)
"""Programs and subcommands; being here lets a bare word through."""
_SUBCOMMANDS = frozenset(
    """
    add all audit blame branch check checkout ci clean clone codegen commit config container coverage create db describe
    dev dev:test dlx doctor down edit exit expand export fetch file force form format from function generate get help
    history id images info init insert install integration issue jobs learn lessons lint lint:fix linux list log login
    logs main master merge migrate mod mode more move next origin outdated package packages patch pr prod publish pull
    push rebase release remote remove report reset restart restore rev-parse review rust server service session_search
    sessions set setup show simctl staging start stash status stop switch sync tag task templates test tests true type
    unit up update upgrade verify version vet view wait warm workspace workspaces
    """.split()  # noqa: SIM905
)
"""Those of them that no command begins with."""
_PRINTING = frozenset(
    (
        "echo",
        "printf",
        "say",
        "espeak",
        "notify-send",
        "write-output",
        "write-host",
        "logger",
        "wall",
        "print",
        "cowsay",
    )
)
"""Programs whose arguments are a text."""
_MESSAGE_OPTIONS = frozenset(
    ("-m", "-am", "-a", "-b", "-t", "-c", "-e", "-F", "--message", "--title", "--body", "--notes",
     "--description", "--comment", "--subject")
)  # fmt: skip
_RECORDING = frozenset(("git", "gh", "glab", "hg", "jj", "svn", "bd", "sl", "gt"))
"""Programs of which `_MESSAGE_OPTIONS` take a text."""
_SCRIPT_OPTIONS = re.compile(r"-[a-z]{0,3}c")
_SHELLS = frozenset(("bash", "sh", "zsh", "fish", "dash"))
_TOKEN = re.compile(
    r"(?P<blank>[ \t\r]+)|(?P<line>\n+)|(?P<here><<<|<<-?)"
    r"|(?P<operator>&&|\|\||\|&|&>>?|[0-9]?>&[0-9-]|[0-9]?>>?|<(?!\()|;;?|\||&|[()]|[{}](?=[\s;&|)]|$))"
    r"|(?P<word>(?:\\.|'[^']*'|\"(?:\\.|[^\"\\])*\"|\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`|[^\s'\"\\`;&|<>()]|\((?=\S)|(?<=\S)\)|<\()+)",
    re.DOTALL,
)
_SIGNS = frozenset(("", f"$({CUT})", "--", "-", "\\", "[", "]", "[[", "]]", "!"))
_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"", re.DOTALL)
_SUBSTITUTION = re.compile(r"\$\((?:[^()]|\([^()]*\))*\)|`[^`]*`", re.DOTALL)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_][A-Za-z0-9_]*|[0-9?!#@*$])\}?")
_NUMBERS = re.compile(r"[0-9][0-9.,:%+x-]{0,19}[a-zA-Z]{0,2}|[%^~!=+.,:@*?\[\]-]{1,4}|\d{1,6}[,;]\d{1,6}[a-z]?")
_ADDRESS = re.compile(r"(?i)^[a-z][a-z0-9+.-]{1,9}://|^[\w.-]+@[\w.-]+:|^www\.")
_LOCAL = re.compile(r"(?i)^https?://(?:localhost|127\.0\.0\.1|0\.0\.0\.0|\[::1\])(?::\d{1,5})?(?=/|$)")
_ENDED = re.compile(r"^[\w@.+…-]+\.[A-Za-z][A-Za-z0-9]{0,7}$")
_PLAIN = re.compile(r"[A-Za-z0-9_@][\w.@:+,…-]{0,80}", re.ASCII)
_DESTINATION = re.compile(
    r"(?:generic/)?platform=(?:iOS|macOS|tvOS|watchOS|visionOS)(?: Simulator)?"
    r"(?:,name=(?:iPhone|iPad|Apple (?:TV|Watch|Vision))(?: (?:\d{1,2}[a-z]?|Pro|Max|Plus|mini|Air|SE|Ultra|Series|4K))*)?"
    r"(?:,OS=(?:latest|\d{1,2}(?:\.\d{1,2}){0,2}))?"
)
"""Where `xcodebuild` runs what it made: the only text with blanks that is known word by word."""
_CALL = re.compile(r"(?P<tool>[A-Za-z][\w-]{0,79})\((?P<arguments>.*)\)", re.DOTALL)
_ARGUMENT = re.compile(
    r"\s*(?P<name>[A-Za-z_]\w{0,39})\s*=\s*(?P<value>'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\{[^}]*\}|[^,]*)(?:,|$)"
)


@lru_cache(maxsize=2048)
def fit_command(text: str) -> str:
    """A command on one line that holds no sentence; empty if there is none."""
    text = text.strip()
    if not text or len(text) > 20_000:
        return ""
    call = _CALL.fullmatch(text)
    if call is not None:
        return _fit_call(call["tool"], call["arguments"])
    return _fit_script(text, 0)


def _fit_script(text: str, depth: int) -> str:
    done: list[str] = []
    current = _SimpleCommand(depth)
    position, commands, has_program = 0, 1, False
    while position < len(text):
        found = _TOKEN.match(text, position)
        if found is None:  # an open quote, or what no shell takes
            current.add_text()
            break
        position, kind, sign = found.end(), found.lastgroup, found[0]
        if kind == "here":
            current.parts.append(f"<<{TEXT}" if sign != "<<<" else f"<<< {TEXT}")
            break
        if kind == "word" and sign.startswith("#"):
            end = text.find("\n", position)
            position = len(text) if end < 0 else end
        elif kind == "word":
            current.add_word(sign)
        elif (kind == "operator" and sign[-1] in "><") or (kind == "operator" and ">&" in sign):
            current.add_redirection(sign)
        elif kind in ("operator", "line"):
            if current.is_prose:
                return ""
            has_program = has_program or bool(current.program)
            if current.parts:
                commands += 1
                done += (*current.parts, ";" if kind == "line" else sign)
            elif kind == "operator" and sign in "(){}":
                done.append(sign)
            current = _SimpleCommand(depth)
            if commands > _MOST_COMMANDS:
                done.append(CUT)
                break
        if len(done) + len(current.parts) > _MOST_WORDS:
            current.parts.append(CUT)
            break
    if current.is_prose or not (current.program or has_program):
        return ""
    return _finish([*done, *current.parts])


def _finish(parts: list[str]) -> str:
    while parts and parts[-1] in (";", "&&", "||", "|", "&"):
        parts.pop()
    merged = [part for place, part in enumerate(parts) if part != CUT or place == 0 or parts[place - 1] != CUT]
    command = " ".join(merged)
    if len(command) > _LONGEST:
        command = command[: _LONGEST - 2].rpartition(" ")[0] + f" {CUT}"
    return command if any(letter.isalnum() for letter in command.replace(TEXT, "")) else ""


class _SimpleCommand:
    """One command of a script while its words are looked at."""

    def __init__(self, depth: int) -> None:
        self.parts: list[str] = []
        self.program = ""
        self.is_prose = False
        self._depth = depth
        self._plain, self._in_row, self._paths = _PLAIN_ROOM, 0, _PATH_ROOM
        self._is_cut = False
        self._redirects = False
        self._last = ""
        self._seen: set[str] = set()

    def _count_new(self, word: str) -> int:
        """The unknown words that this command has not shown yet."""
        new = [each for each in words_of(word) if each not in self._seen]
        self._seen.update(new)
        return sum(count_unknown(each) for each in new)

    def add_text(self) -> None:
        if self._redirects:
            self._add_target(TEXT)
            return
        if not self.parts or self.parts[-1] != TEXT:
            self.parts.append(TEXT)

    def add_redirection(self, token: str) -> None:
        self.is_prose = self.is_prose or not self.program
        self.parts.append(token)
        self._redirects = ">&" not in token

    def _add_target(self, target: str) -> None:
        """Where output goes or input comes from; it counts as a bare word."""
        self._redirects = False
        gap = " " if self.parts[-1][-1] == "<" else ""  # nothing looks like a tag
        self.parts[-1] += gap + target
        self._in_row += 1

    def add_word(self, token: str) -> None:
        if self._redirects:
            self._add_target(self._fit_path(_unquote(token)))
            return
        if self._is_cut:
            return
        fitted = self._fit(token)
        self._last = token
        if fitted == TEXT:
            self.add_text()
        elif fitted:
            self.parts.append(fitted)

    def _fit(self, token: str) -> str:
        word = _unquote(token)
        is_quoted = word != token
        if not self.program:
            return self._fit_program(token, word)
        if self._takes_text(word):
            return TEXT
        if is_quoted and re.search(r"\s", word):
            if self._last == "-destination" and _DESTINATION.fullmatch(word):
                return f"'{word}'"
            is_script = self.program in _SHELLS and _SCRIPT_OPTIONS.fullmatch(self._last) and not self._depth
            inner = _fit_script(word, 1) if is_script else ""
            return f"'{inner}'" if inner and "'" not in inner else TEXT
        fitted = self._fit_word(_SUBSTITUTION.sub(f"$({CUT})", token if not is_quoted else word))
        if not is_quoted or fitted in (TEXT, URL, CUT):
            return fitted
        return token if fitted == word else f"{token[0]}{fitted}{token[0]}" if token[0] in "'\"" else fitted

    def _fit_program(self, token: str, word: str) -> str:
        assigned = re.fullmatch(r"([A-Za-z_][A-Za-z0-9_]*)=(.*)", word, re.DOTALL)
        if assigned is not None:
            name, value = fit_variable(assigned[1]), assigned[2]
            kept = (
                ""
                if re.search(r"\s", value)
                else self._fit_word(_SUBSTITUTION.sub(f"$({CUT})", value))
                if value
                else ""
            )
            return f"{name}={kept or (TEXT if value else '')}" if name else ""
        plain = re.fullmatch(r"[\w.+@:/~\\$…{}\[\]-]{1,80}", word, re.ASCII) or word == CUT
        if not plain or _ADDRESS.match(word) or word[-1:] == ":":
            self.is_prose = True
            return ""
        fitted = fit_path(word) if "/" in word or "\\" in word or word == CUT else fit_name(word.strip("$"))
        if not fitted:
            self.is_prose = True
            return ""
        self.program = word.rpartition("/")[2].lower()
        if not self._is_known(word) and "/" not in word:
            self._plain -= self._count_new(word)
        return word if fitted == word.strip("$") else fitted

    def _takes_text(self, word: str) -> bool:
        if self.program in _PRINTING:
            return (
                not (word.startswith("-") and fit_flag(word))
                and not _VARIABLE.fullmatch(word)
                and not _NUMBERS.fullmatch(word)
            )
        is_value = word != CUT and not fit_flag(word)
        return self.program in _RECORDING and self._last in _MESSAGE_OPTIONS and is_value

    def _is_known(self, word: str) -> bool:
        return word.lower() in _COMMAND_WORDS or count_unknown(word) == 0

    def _fit_word(self, word: str) -> str:
        if (
            word in ("", f"$({CUT})", "--", "-", "\\", "[", "]", "[[", "]]", "!")
            or fit_placeholder(word)
            or _NUMBERS.fullmatch(word)
        ):
            return word or TEXT
        if _VARIABLE.fullmatch(word):
            return word if fit_variable(word.strip("${}")) or len(word) < 5 else CUT
        if word.startswith("-"):
            return self._fit_option(word)
        if _ADDRESS.match(word):
            local = _LOCAL.match(word)
            rest = word[local.end() :] if local else ""
            return f"{local[0]}{fit_path(rest) if rest.strip('/') else rest}" if local else URL
        name, equals, value = word.partition("=")
        if equals and fit_variable(name):
            return f"{name}={self._fit_value(value)}"
        if "/" in word or "\\" in word or _ENDED.match(word) or word[0] in ".~":
            return self._fit_path(word)
        return self._fit_plain(word)

    def _fit_option(self, word: str) -> str:
        self._in_row = 0
        name, joint, value = word.partition("=")
        if not joint:  # `-only-testing:NAME`
            name, joint, value = word.partition(":")
        fitted = fit_flag(name)
        if not fitted:
            return CUT
        return f"{name}{joint}{self._fit_value(value)}" if joint else name

    def _fit_value(self, value: str) -> str:
        bare = _unquote(value)
        if re.search(r"\s", bare) or not bare:
            return TEXT if bare else ""
        if _NUMBERS.fullmatch(bare) or fit_placeholder(bare) or _VARIABLE.fullmatch(bare) or f"$({CUT})" in bare:
            return bare if f"$({CUT})" not in bare else f"$({CUT})"
        fitted = URL if _ADDRESS.match(bare) and not _LOCAL.match(bare) else SLOTS["token"](bare) or CUT
        self._paths -= self._count_new(fitted)
        return fitted if self._paths >= 0 else CUT

    def _fit_path(self, word: str) -> str:
        self._in_row = 0
        fitted = fit_path(word)
        self._paths -= self._count_new(fitted)
        if self._paths < 0:
            self._is_cut = True
            return CUT
        return fitted or CUT

    def _fit_plain(self, word: str) -> str:
        self._in_row += word.lower() not in _COMMAND_WORDS or self._in_row > 0
        if not _PLAIN.fullmatch(word):
            return TEXT if not self._mark_prose() else ""
        if len(words_of(word)) > 1:
            return self._fit_joined(word)
        if not self._is_known(word):
            self._plain -= self._count_new(word)
        if self._plain < 0 or self._in_row > _MOST_IN_ROW:
            self._is_cut = True
            return CUT if not self._mark_prose() else ""
        return word

    def _fit_joined(self, word: str) -> str:
        """A name of several words: `test_user_login`, `lint:fix`. It ends early where it could be a sentence."""
        fitted = word if self._is_known(word) else cut_name(word)
        self._paths -= 0 if self._is_known(word) else self._count_new(fitted)
        if self._paths < 0:
            self._is_cut = True
            return CUT if not self._mark_prose() else ""
        return fitted

    def _mark_prose(self) -> bool:
        """Bare words that are no command's, after what is not known to be a program: prose."""
        is_program = self.program in _COMMAND_WORDS - _SUBCOMMANDS or "." in self.program
        self.is_prose = self.is_prose or (not is_program and self._depth == 0)
        return self.is_prose


def _unquote(token: str) -> str:
    return _QUOTED.sub(lambda found: found[1] if found[1] is not None else found[2] or "", token)


class _Argument(NamedTuple):
    name: str
    value: str


def _fit_call(tool: str, arguments: str) -> str:
    """A call of a tool that is no shell: `Read(limit=600)`."""
    if not fit_name(tool):
        return ""
    found = [_Argument(each["name"], each["value"].strip()) for each in _ARGUMENT.finditer(arguments)]
    shown = [f"{each.name}={_fit_argument(each.value)}" for each in found[:4] if fit_variable(each.name)]
    return f"{tool}({', '.join(shown)})" if shown else tool


def _fit_argument(value: str) -> str:
    bare = value[1:-1] if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"" else value
    if re.search(r"\s", bare) or not bare:
        return CUT
    fitted = SLOTS["token"](bare)
    return value if fitted == bare and fitted else fitted or CUT


def fit_whole_command(text: str) -> str:
    """A command that can be run as it stands: nothing of it is left out."""
    return text if text and fit_command(text) == text and not any(sign in text for sign in (CUT, TEXT, URL)) else ""


SLOTS["command"] = fit_command
SLOTS["whole"] = fit_whole_command
