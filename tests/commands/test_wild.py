"""Any text at all: never an error, never slow, and the short way gives what the parser gives."""

import subprocess
import sys

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from preheat.commands import benign_answer, understand
from preheat.commands.parse import parse, parse_fully
from preheat.commands.plain import parse_plain, words_only
from preheat.commands.syntax import with_heredocs, without_heredocs
from preheat.commands.understand import understand_script
from preheat.commands.values import Simple, group_tokens
from preheat.commands.words import name_set
from tests.growth import grows_in_proportion

PIECES = (
    *sorted(
        name_set(
            "a bc grep -rn x.py --flag=v 2 if then fi for in do done while case esac export time A=b a=1 ./x ~/y * ? {} $x ${y}"
        )
    ),
    *sorted(
        name_set(
            "$? '' \"\" \\; \\( && || | ; & > >> < 2>&1 2>/dev/null >f &>g <h # #c é % @ : , + ^ = ! [ ] ( ) { } ` $("
        )
    ),
    *("'q r'", '"s t"', '"u $v"', '"w \\" x"', "\\", "<<", "<<E", "'E'", ";;", "|&", "<(", "$((", "))"),
    *(" ", "\n", "\t", "\nE\n", "'", '"', "\x00"),
)
WILD = st.lists(st.sampled_from(PIECES), max_size=25).flatmap(
    lambda parts: st.sampled_from((" ", "", "  ")).map(lambda gap: gap.join(parts))
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(WILD, st.text(max_size=200)), st.integers(-1, 260))
def test_understanding_never_raises(text: str, code: int) -> None:
    """Every text is understood somehow: the main command is one of the commands, and so are the deciding ones."""
    seen = understand(text)
    assert seen.main is None or seen.main in seen.commands
    assert all(command in seen.commands and command.words for command in seen.decides)
    assert (seen.main is None) == (not seen.commands)
    benign_answer(seen, code)


@settings(max_examples=1500, deadline=None)
@given(WILD)
@example("bash -c 'cat <<E\nx\nE\n'")
@example("bash <<E | tail -5\nls\nE")
def test_the_plain_parser_agrees_with_the_full_parser(text: str) -> None:
    """For a text that the short way takes, the parser finds no error and gives the same shape."""
    stripped, heredocs = without_heredocs(text)
    plain = parse_plain(stripped, heredocs)
    if plain is not None:
        assert parse_fully(stripped, heredocs) == (plain, True)
    words = words_only(text)
    if words:
        assert parse_fully(text, ()) == (group_tokens([Simple(words)]), True)


@settings(max_examples=500, deadline=None)
@given(WILD)
@example("exit $?")
@example("exit")
@example("bash -c 'a && b'")
@example("bash <<E\nmake test\nE")
@example("! grep x f")
@example("npm test &")
def test_the_short_path_for_one_command_agrees_with_the_parser(text: str) -> None:
    """The short way for a text of one command gives what the walk over its whole shape gives."""
    assert understand(text) == understand_script(*parse(text))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(
        st.sampled_from(["cat <<E", "cat <<'F' >f", "a <<-E | b", "E", "\tE", "F", "x", "", "<<", "a <<E <<F"]),
        max_size=12,
    )
)
def test_heredocs_are_put_back_unchanged(lines: list[str]) -> None:
    """What is taken out of a text can be put back exactly."""
    text = "\n".join(lines)
    assert with_heredocs(*without_heredocs(text)) == text


@pytest.mark.parametrize(
    "text",
    [
        "a" * 1_000_000,
        "a " * 500_000,
        "a|" * 500_000,
        "a;" * 500_000,
        "a &&\n" * 200_000,
        "$(" * 500_000,
        "(" * 1_000_000,
        ")" * 1_000_000,
        "'" * 1_000_001,
        '"' * 1_000_001,
        "\\" * 1_000_001,
        "<<A " * 250_000,
        "<<A\n" * 250_000,
        "".join(f"<<A{number}\n" for number in range(100_000)),
        "cat <<E\n" + "x\n" * 500_000 + "E\nls",
        "cat <<E >f\nx\nE\n" * 60_000,
        "bash -c '" + "bash -c " * 100_000 + "'",
        "\x00" * 1_000_000,
        "if " * 300_000,
        "sudo " * 200_000,
        "{ " * 300_000,
    ],
    ids=lambda text: repr(text[:12]),
)
def test_time_grows_with_the_length_of_huge_texts(text: str) -> None:
    """A megabyte of anything costs what its length says."""
    grows_in_proportion(understand, text)


@pytest.mark.skipif(
    sys.version_info < (3, 11, 5),
    reason="earlier Pythons match possessive alternatives wrongly: there the parser reads all",
)
def test_the_parser_is_loaded_only_when_needed() -> None:
    """A plain command loads no parser; one with a substitution does."""
    code = (
        "import sys; from preheat.commands import understand; understand('cd a && git status | head -5')\n"
        "assert 'tree_sitter' not in sys.modules; understand('a $(b)'); assert 'tree_sitter' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
