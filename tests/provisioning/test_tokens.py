"""The estimate of tokens: sane for any text, and on the safe side of a real tokeniser for texts as sessions have them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.provisioning.tokens import estimate_tokens

SAMPLES = {
    "prose": (
        "The migration test fails because the users table is created after the index. Move the statement up, run the whole"
        " suite once, and say in the changelog that the order of the statements matters from now on. Nothing else changes."
    ),
    "command": (
        "cd services/api && uv run pytest tests/unit/test_orders.py -k 'refund and not slow' --maxfail=1 -q 2>&1 | tail -40"
    ),
    "paths": "src/shop/orders/refund_policy.py\nsrc/shop/orders/__init__.py\ntests/unit/orders/test_refund_policy.py\n"
    * 4,
    "json": '{"file_path":"src/shop/cart.py","old_string":"def total(items):","new_string":"def total(items, tax=0.19):"}',
    "code": "def total(items: list[Item], tax: float = 0.19) -> Decimal:\n    return sum(item.price for item in items)\n",
    "context": (
        '- test: `mise run test` (312 of 320 ran, in 30 sessions); `go test ./...` fails here: "package is not in std"\n'
        '- `Edit` fails here: "File has not been read yet"; after reading the file, it works (16 of 16)\n'
    ),
    "russian": "Файл не найден: проверьте путь и права доступа. Команда завершилась с ошибкой после трёх попыток.",
    "chinese": "找不到文件:请检查路径和访问权限。该命令在三次尝试后仍然失败,没有任何测试通过。",
    "japanese": "ファイルが見つかりません。パスとアクセス権を確認してください。三回試しても失敗しました。",
}


@pytest.mark.parametrize("sort", SAMPLES)
def test_the_estimate_is_close_to_a_real_tokeniser_and_seldom_below_it(sort: str) -> None:
    bpe = pytest.importorskip("bpe_openai")
    text = SAMPLES[sort]
    real = len(bpe.get_encoding("o200k_base").encode_ordinary(text))
    assert 0.95 * real <= estimate_tokens(text) <= 1.45 * real + 2


def test_an_empty_text_has_no_tokens() -> None:
    assert estimate_tokens("") == 0
    assert estimate_tokens(" ") >= 1


@given(st.text(max_size=200), st.text(max_size=50))
def test_more_text_never_costs_less(text: str, more: str) -> None:
    """Adding to a text does not lower the estimate, and no text has a negative one."""
    assert 0 <= estimate_tokens(text) <= estimate_tokens(text + more)


@given(
    st.lists(st.text(st.characters(blacklist_categories=["Zl", "Zp", "Cc", "Cs"]), min_size=1, max_size=40), max_size=8)
)
def test_the_sum_over_lines_is_not_less_than_the_whole(lines: list[str]) -> None:
    whole = "".join(f"- {line}\n" for line in lines)
    assert estimate_tokens(whole) <= sum(estimate_tokens(f"- {line}\n") for line in lines)


def test_a_huge_text_is_estimated_quickly() -> None:
    assert estimate_tokens("word " * 1_000_000) >= 1_000_000
