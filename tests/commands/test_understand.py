"""A whole shell text: its commands, the main one, and whose exit code can be seen."""

import pytest

from preheat.commands import Understanding, understand


def programs(seen: Understanding) -> str:
    return " ".join(command.program for command in seen.commands)


def deciding(text: str) -> str:
    return " ".join(command.program for command in understand(text).decides)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a && b || c; d | e & f", "a b c d e f"),
        ("(a; b) | { c; }", "a b c"),
        ("if a; then b; elif c; then d; else e; fi", "a b c d e"),
        ("for x in $(a); do b; done", "a b"),
        ("while a; do b; done", "a b"),
        ("case $x in 1) a;; *) b;; esac", "a b"),
        ("f() { a; }; f", "a f"),
        ('a "$(b)" `c`', "a b c"),
        ("diff <(a) <(b)", "diff a b"),
        ("x=$(a) b", "b a"),
        ("cat > f <<'E' && a; b\n$(c) | d\nE\ne", "cat a b e"),
        ("a <<X <<Y\n1\nX\n2\nY\nb", "a b"),
        ("git commit -m \"$(cat <<'E'\nit's | fine\nE\n)\"", "git cat"),
        ("# a comment\na # another\nb", "a b"),
        ("a 2>&1 \\\n | b", "a b"),
        ("find . \\( -name a -o -name b \\) -print", "find"),
    ],
)
def test_commands_are_listed_in_the_order_of_the_text(text: str, expected: str) -> None:
    """Every simple command is found in order, wherever it stands; here-documents are data."""
    seen = understand(text)
    assert programs(seen) == expected
    assert seen.complete


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", "a"),
        ("a; b", "b"),
        ("a | b", "b"),
        ("a && b", "a b"),
        ("a && b 2>&1 | c", "a c"),
        ("a && b > f || c", "c"),
        ("a || true", "true"),
        ("a &", ""),
        ("a & b", "b"),
        ("! a", ""),
        ("set -o pipefail; a | b", "a b"),
        ("set -e\na\nb", "set a b"),
        ("bash -ec 'a; b'", "a b"),
        ("bash -c 'a; b' | c", "c"),
        ("(a; b)", "b"),
        ("if a; then b; else c; fi", "b c"),
        ("for x in 1 2; do a; b; done", "b"),
        ("x=$(a)", "a"),
        ("a | b; exit ${PIPESTATUS[0]}", "a b"),
        ("a; status=$?; b; exit $status", "a b"),
        ("f() { a; b; }; f", "b"),
        ("cat <<E | a && b\nx\nE", "a b"),
    ],
)
def test_the_deciding_command_is_found(text: str, expected: str) -> None:
    """The commands whose exit code the shell reports are those that the shell's own rules name."""
    assert deciding(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "pytest | tail -5",
        "pytest 2>&1 | tee log",
        "pytest || true",
        "pytest || echo failed",
        "pytest; echo $?",
        "pytest; true",
        "pytest &",
        "(pytest) | cat",
        "bash -c 'pytest | tail'",
        "if pytest; then echo good; fi",
        "cd x && pytest | grep FAILED; ls",
        "! pytest",
        "set -e; set +e; pytest; ls",
    ],
)
def test_hidden_exit_codes_are_masked(text: str) -> None:
    """A failure of the main command cannot be seen in the exit code of these."""
    seen = understand(text)
    assert seen.purpose == "test"
    assert seen.masked


@pytest.mark.parametrize(
    "text",
    [
        "pytest",
        "cd x && pytest",
        "pytest && echo good",
        "echo start; pytest 2>&1",
        "pytest > log 2>&1",
        "set -o pipefail && pytest | tail",
        "set -euo pipefail\npytest\necho good",
        "pytest || exit 1",
        "pytest || { echo failed; exit 1; }",
        "pytest | tee log; exit ${PIPESTATUS[0]}",
        "timeout 60 bash -c 'cd x; pytest'",
        "cat x | pytest",
        "python - <<E && pytest\nx\nE",
    ],
)
def test_visible_exit_codes_are_not_masked(text: str) -> None:
    """A failure of the main command makes the whole of these fail."""
    seen = understand(text)
    assert seen.purpose == "test"
    assert not seen.masked


@pytest.mark.parametrize(
    ("text", "program"),
    [
        ("cd x && ls && pytest", "pytest"),
        ("cat a | grep b | wc -l", "cat"),
        ("rm -rf x; python app.py; ls", "python"),
        ("git add . && git commit -m x", "git"),
        ("cat > a.py <<E\nx\nE\npython a.py", "python"),
        ("sed -i s/a/b/ f && git diff", "sed"),
        ("cd $(git rev-parse --show-toplevel) && ls", "ls"),
        ("nvm use 18 && npm run build", "npm"),
        ("kill 5; sleep 1; npm start", "npm"),
        ("curl -s x | python3 -c 'import sys'", "curl"),
        ("echo a; echo b", "echo"),
    ],
)
def test_the_main_command_is_found(text: str, program: str) -> None:
    """The main command is what the text is for: a check, else an action, an edit, a look, and only then `cd` or `echo`."""
    main = understand(text).main
    assert main is not None
    assert main.program == program


@pytest.mark.parametrize("text", ["", "   ", "\n\n", "# only a comment"])
def test_a_text_without_commands_has_no_main_command_and_no_purpose(text: str) -> None:
    """A text without a command has no main one and no purpose of its own."""
    assert understand(text) == Understanding((), "other", None, (), False, True)


@pytest.mark.parametrize(
    "text",
    ["echo 'open", "if a; then", "a | | b", "x = @{ 'a' = @('b') }; (git show x).Split('n')[1]", "a " * 10_000 + "'"],
)
def test_texts_with_syntax_errors_are_incomplete(text: str) -> None:
    """What is no proper script says so, and still gives what could be read."""
    seen = understand(text)
    assert not seen.complete
    assert seen.main is not None


def test_quotes_are_removed_from_words() -> None:
    """Words come without their quotes where they are literal; what the shell would fill in stays as written."""
    command = understand("""a 'b c' "d \\"e\\" $F" g\\ h i"j"'k' "$(l)" '' x\\y""").commands[0]
    assert command.words == ("a", "b c", 'd "e" $F', "g h", "ijk", "$(l)", "", "x\\y")
