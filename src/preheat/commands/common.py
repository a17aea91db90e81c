"""Which commands a language has for everybody, so that nobody has to be told of them. Knows no lesson."""

import re
from collections.abc import Sequence

from preheat.commands.words import name_set

_VARYING = re.compile(r"\b(?:NAME|PATH|FOLDER|PACKAGE|VALUE)\b")


MISE_COMMANDS = name_set(
    "activate alias aliases backends b bin-paths bootstrap cache completion config cfg current deactivate doctor dr en env e"
    " exec x fmt generate gen implode install i install-into latest link ln list ls ls-remote lock mcp outdated plugins p"
    " prepare prune registry reshim run r search self-update set settings shell sh shell-alias sync tasks t test-tool token"
    " tool tool-stub trust uninstall unset untrust unuse rm upgrade up use u version v watch w where which"
)
"""What `mise` does itself; another word behind it is a task of the project, as behind `mise run`."""


def names_mise_task(words: Sequence[str]) -> bool:
    """Whether a command is a task of the project run by `mise` without `run`."""
    return len(words) > 1 and words[0] == "mise" and words[1] not in MISE_COMMANDS and not words[1].startswith("-")


def is_common_command(command: str) -> bool:
    """Whether a command is what a language has for everybody (`cargo fmt`, `go test ./...`): whoever works in the language types
    it without being told. That the whole of a project lies in a folder, nobody knows."""
    moved = _MOVED.match(command)
    words = [
        word
        for word in command[moved.end() if moved else 0 :].split()
        if word not in _LOUDNESS and not word.startswith("-count=")
    ]
    plain = " ".join("…" if _VARYING.search(word) or word in (".", "./...") else word for word in words)
    return plain in _COMMON or (moved is None and plain in _COMMON_OF_ALL)


_MOVED = re.compile(r"^cd \S+ && ")
_LOUDNESS = frozenset(["-v", "-vv", "-q", "--verbose", "--quiet", "--all", "--workspace", "--all-targets", "-x"])
_COMMON = frozenset(
    map(
        str.strip,
        """
        go vet …
        gofmt -l …
        gofmt -w …
        gofmt -s -w …
        go fmt …
        go test … -run …
        go test -run … …
        goimports -w …
        cargo fmt
        cargo fmt -- --check
        cargo fmt --check
        cargo check
        cargo build
        cargo clippy
        cargo test …
        cargo test -p …
        cargo test -p … …
        cargo test --test …
        cargo test --test … …
        cargo check -p …
        cargo build -p …
        pytest …
        pytest … -k …
        python -m pytest …
        python3 -m pytest …
        bun test …
        bun test … -t …
        node --test …
        deno test …
        swift build
        swift test --filter …
        dotnet build
        dotnet format
        dotnet test --filter …
        dart format …
        dart analyze
        flutter analyze
        flutter test …
        mix format
        mix compile
        mix test …
        """.splitlines(),
    )
) - {""}
"""Commands that need no saying; `…` stands for a word that varies, or for everything."""
_COMMON_OF_ALL = frozenset(
    map(
        str.strip,
        """
        go test …
        go build …
        cargo test
        cargo nextest run
        swift test
        flutter test
        dart test
        mvn test
        mvn package
        dotnet test
        mix test
        """.splitlines(),
    )
) - {""}
"""The same, of a project that lies in its own folder."""
