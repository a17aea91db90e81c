"""Most texts are told at a glance from those that need a long look: the glance must change nothing."""

from hypothesis import given
from hypothesis import strategies as st

from preheat.safe_text import paths, reasons

_ROOT = "/Home/dev/Shop"
_PLACES = [
    "/Home/dev/Shop", "/home/DEV/shop", "/home/dev/shop/src/a.py", "/home/someone/x", "/Users/Some/x", "C:\\Users\\me\\x",
    "/root", "/root/x", "/rooted", "users/x", "x", "é", "\u017f", "/home/dev/\u017fhop", " ", ":", "'", "/tmp/x", "a/Temp/b",
    "$TMPDIR", "mktemp", "%TEMP%", "/var/folders/x", "1700000000", "deadbeef1", "REDACTED", "pid=4", "template",
]  # fmt: skip


@given(st.lists(st.sampled_from(_PLACES), max_size=6), st.sampled_from(["", " ", "/"]))
def test_the_quick_check_for_paths_agrees_with_the_whole_pattern(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)
    roots = paths._folder_spellings(_ROOT, "")
    assert roots is not None
    expected = paths.HOME.sub("~", roots.pattern.sub(paths._below, text))
    assert paths.make_paths_relative(text, _ROOT) == expected


@given(st.lists(st.sampled_from(_PLACES), max_size=6), st.sampled_from(["", " ", "/"]))
def test_the_quick_check_for_transient_texts_agrees_with_the_whole_patterns(pieces: list[str], joint: str) -> None:
    text = joint.join(pieces)
    patterns = [reasons._TEMPORARY, *(pattern for pattern, _ in reasons._ONE_TIME)]
    assert bool(reasons.transient_reason(text)) == any(pattern.search(text) for pattern in patterns)
