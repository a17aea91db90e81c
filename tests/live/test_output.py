"""Output compression: what stays, what goes, and that nothing is ever lost, emptied or made longer."""

import re
import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.app.live import outputs
from preheat.app.live.outputs import read_output, shorten_output, store_output
from preheat.errors import NotFound
from preheat.live.output import MARK, output_id, shorten
from preheat.live.signal import DEFAULTS

CODES = st.sampled_from([None, 0, 1, 101])
PYTEST = [
    "_______________________________ test_total _______________________________",
    "",
    "    def test_total():",
    "        basket = Basket([1, 2])",
    ">       assert basket.total() == 4",
    "E       assert 3 == 4",
    "E        +  where 3 = total()",
    "",
    "tests/test_basket.py:12: AssertionError",
]


def noise(number: int) -> list[str]:
    return [f"tests/test_{index}.py::test_case PASSED   [{index:3}%]" for index in range(number)]


def test_a_short_output_is_unchanged() -> None:
    text = "\n".join(noise(79))
    assert shorten(text, 0, 80).text == text
    assert shorten("", 0, 80).text == ""


def test_a_long_output_without_failures_keeps_its_ends_and_totals() -> None:
    text = "\n".join(["collected 900 items", *noise(900), "", "===== 900 passed, 2 skipped in 3.21s ====="])
    found = shorten(text, 0, 80)
    lines = found.text.split("\n")
    assert len(lines) <= 80
    assert lines[0] == "collected 900 items"
    assert lines[-1] == "===== 900 passed, 2 skipped in 3.21s ====="
    assert found.dropped_lines + len(lines) - 1 == text.count("\n") + 1
    assert (
        f"{found.dropped_lines} of 903 lines left out; exit code 0; `preheat admin output {found.id}` prints all"
        in found.text
    )
    assert found.id == output_id(text)


def test_a_failure_in_the_middle_is_kept() -> None:
    text = "\n".join([*noise(300), *PYTEST, *noise(300), "1 failed, 600 passed in 4.2s"])
    found = shorten(text, 1, 40)
    assert "\n".join(PYTEST) in found.text
    assert "1 failed, 600 passed in 4.2s" in found.text
    assert "exit code 1" in found.text
    assert len(found.text.split("\n")) < 100


@pytest.mark.parametrize(
    "block",
    [
        [
            "error[E0597]: `x` does not live long enough",
            "  --> src/main.rs:4:9",
            "   |",
            "4  |     y = &x;",
            "   |         ^^",
        ],
        ["--- FAIL: TestSync (0.02s)", "    sync_test.go:41: got 3, want 4"],
        ["src/app.ts(12,7): error TS2322: Type 'string' is not assignable to type 'number'."],
        [
            "Traceback (most recent call last):",
            '  File "a.py", line 3, in <module>',
            "    f()",
            "ValueError: no such column",
        ],
        ["npm error code E404", "npm error 404 Not Found - GET https://registry.example.org/left-pad"],
        ["  ● Cart › adds up", "    expect(received).toBe(expected)", "    Expected: 4", "    Received: 3"],
        ["thread 'main' panicked at src/lib.rs:9:5:", "index out of bounds: the len is 3 but the index is 7"],
        ["bash: frobnicate: command not found"],
    ],
    ids=lambda block: block[0][:20],
)
@pytest.mark.parametrize("code", [1, None, 0])
def test_failures_of_many_tools_are_kept(block: list[str], code: int | None) -> None:
    text = "\n".join([*noise(200), *block, "", *noise(200)])
    assert "\n".join(block) in shorten(text, code, 40).text


def test_the_middle_of_a_long_line_is_left_out() -> None:
    text = f"begin {'x' * 1_000_000} end"
    found = shorten(text, 0, 80)
    assert len(found.text) < 3_000
    assert found.text.startswith("begin ")
    assert found.text.split("\n")[0].endswith(" end")
    assert f"`preheat admin output {found.id}`" in found.text


def test_a_json_value_is_not_cut() -> None:
    text = '{"rows": [' + ",".join(["1"] * 5_000) + "]}"
    assert shorten(text, 0, 80).text == text


def test_two_hundred_thousand_lines_are_shortened_quickly() -> None:
    text = "\n".join(f"line {index}" for index in range(200_000))
    found = shorten(text, 0, 60)
    assert "line 0\n" in found.text
    assert "line 199999" in found.text
    assert 20 < len(found.text.split("\n")) <= 60


@given(
    st.lists(
        st.one_of(st.text(max_size=60), st.sampled_from(["error: x", "FAILED a", "", "  at b", "3 passed"])),
        max_size=200,
    ),
    CODES,
    st.integers(-5, 90),
)
@settings(max_examples=300, deadline=None)
def test_a_shortened_output_is_never_longer_or_empty_and_stays_the_same(
    lines: list[str], code: int | None, most: int
) -> None:
    text = "\n".join(lines)
    found = shorten(text, code, most)
    assert len(found.text) <= len(text)
    assert bool(found.text) == bool(text)
    assert shorten(text, code, most) == found
    assert shorten(found.text, code, most).text == found.text
    assert bool(found.id) == (found.text != text)
    if found.id and max(map(len, lines)) < 2_000:
        there = set(text.split("\n"))
        assert all(line in there or line.startswith(MARK) for line in found.text.split("\n"))


@given(st.text(alphabet=st.characters(), min_size=1, max_size=50).map(lambda text: text * 400), CODES)
@settings(max_examples=100, deadline=None)
def test_no_character_is_cut_in_half(text: str, code: int | None) -> None:
    found = shorten(text, code, 40).text
    assert len(found) <= len(text)
    found.encode("utf-8", "surrogatepass").decode("utf-8", "surrogatepass")


def test_the_number_of_kept_lines_depends_on_the_phase() -> None:
    text = "\n".join(noise(500))
    sizes = [
        len(shorten(text, 0, int(DEFAULTS.output_lines.of(phase))).text.split("\n"))
        for phase in ("productive", "struggling", "late")
    ]
    assert sizes == sorted(sizes, reverse=True)
    assert len(set(sizes)) == 3


# The whole text.
def test_the_whole_text_is_stored_before_it_is_shortened(tmp_path: Path) -> None:
    secret = "ghp_Zk3qL9vT2nRb7WcYpXsD5mHfJgA8eUo4KiQw"
    text = "\n".join([*noise(300), f"token {secret}"])
    found = shorten_output(text, 0, "late", folder=str(tmp_path))
    assert found is not None
    name = re.search(r"preheat admin output ([0-9a-f]{12})", found)
    assert name is not None
    kept = read_output(name[1], str(tmp_path)).decode()
    assert kept.split("\n")[:300] == noise(300)
    assert secret not in kept
    file = tmp_path / "outputs" / f"{name[1]}.zst"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


def test_an_output_that_cannot_be_stored_is_unchanged(tmp_path: Path) -> None:
    (tmp_path / "outputs").write_text("in the way")
    assert shorten_output("\n".join(noise(300)), 0, "late", folder=str(tmp_path)) is None


def test_the_number_of_stored_outputs_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "MOST_FILES", 3)
    names = [store_output(f"text {index}", str(tmp_path)) for index in range(8)]
    assert len(list((tmp_path / "outputs").iterdir())) == 3
    assert read_output(names[-1], str(tmp_path)) == b"text 7"


@pytest.mark.parametrize("name", ["", "../../etc/passwd", "zzzzzzzzzzzz", "0123456789ab"])
def test_an_unknown_output_id_is_an_error(tmp_path: Path, name: str) -> None:
    with pytest.raises(NotFound):
        read_output(name, str(tmp_path))
