"""Numbers, times and sizes as people read them."""

import pytest

from preheat.cli.text import columns, count, duration, format_bytes, one_line, printable, short_path, tokens


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.004, "0.00 s"), (0.42, "0.42 s"), (3.14, "3.1 s"), (59.4, "59 s"), (60, "1 min"), (250, "4 min 10 s"),
        (3599, "59 min 59 s"), (7500, "2 h 5 min"), (86400, "1 d"), (273600, "3 d 4 h"),
    ],
)  # fmt: skip
def test_durations_have_two_units(seconds: float, text: str) -> None:
    assert duration(seconds) == text


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 B"), (999, "999 B"), (4321, "4.3 KB"), (999_960, "1.0 MB"), (120_500_000, "120.5 MB"), (5e12, "5.0 TB")],
)
def test_sizes_have_units(number: float, text: str) -> None:
    assert format_bytes(number) == text


def test_counts_have_plurals_and_tokens_are_short() -> None:
    assert (count(1, "session"), count(1204, "session")) == ("1 session", "1,204 sessions")
    assert [tokens(number) for number in (812, 34_000, 999_600, 1_200_000)] == ["812", "34k", "1.0M", "1.2M"]


def test_printable_removes_terminal_control() -> None:
    assert printable("a\x1b[31m\x00\x9b\x7fb\tc\n") == "a[31mb\tc\n"


def test_one_line_removes_line_ends() -> None:
    assert one_line("  a\n\n b\tc ", 10) == "a b c"
    assert one_line("x" * 50, 10) == "x" * 9 + "…"


def test_paths_in_home_begin_with_a_tilde(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/person")
    assert short_path("/home/person/work") == "~/work"
    assert short_path("/home/personal/work") == "/home/personal/work"


def test_columns_are_aligned() -> None:
    assert columns([["a", "1"], ["long", "100"]]) == ["a       1", "long  100"]
