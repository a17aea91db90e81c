"""Words are compared in one form: parts of identifiers, without endings; other scripts in pairs of letters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from preheat.terms import LONGEST_TERM, TermCounter, split, stem, symbol_key, tokens_of


@pytest.mark.parametrize(
    "words",
    [
        ("parse", "parses", "parsed", "parsing"),
        ("config", "configs"),
        ("entry", "entries"),
        ("stop", "stopped", "stopping", "stops"),
        ("file", "files", "filing"),
    ],
)
def test_forms_of_one_word_have_one_stem(words: tuple[str, ...]) -> None:
    assert len({stem(word) for word in words}) == 1


@pytest.mark.parametrize("words", [("status", "state"), ("class", "clay"), ("user", "use"), ("string", "stripe")])
def test_different_words_have_different_stems(words: tuple[str, str]) -> None:
    assert stem(words[0]) != stem(words[1])


def test_an_identifier_has_its_parts_and_the_whole_however_it_is_written() -> None:
    assert {split("parse_config"), split("parseConfig"), split("ParseConfigs"), split("PARSE_CONFIG")} == {
        ("pars", "config", "pars_config")
    }
    assert split("HTTPServer") == ("http", "server", "http_server")
    assert symbol_key("Server.parseConfig") == symbol_key("parse_config") == "pars_config"


def test_common_words_of_english_and_of_languages_are_no_terms() -> None:
    assert TermCounter().count("the function should return self if not None") == {}


def test_keys_and_hashes_are_no_terms() -> None:
    assert split("sk_live_4eC39HqLyjWDarjtT1zdP7dc") == ()
    assert split("a3f9c1e8b2d7a3f9c1e8b2d7") == ()
    assert split("utf8_decode") == ("utf", "decod", "utf_decod")


def test_scripts_without_spaces_are_compared_in_pairs_of_letters() -> None:
    counted = TermCounter().count("登录页面的错误")
    assert {"登录", "录页", "页面"} <= set(counted)
    assert set(TermCounter().count("修复登录")) & set(counted) == {"登录"}


def test_a_counter_gives_the_same_for_the_same_text_again() -> None:
    counter = TermCounter()
    assert counter.count("load load loader") == counter.count("load load loader") == {"load": 2, "loader": 1}


@given(st.text())
def test_any_text_has_terms_of_bounded_length(text: str) -> None:
    for term in TermCounter().count(text):
        assert 0 < len(term) <= 2 * LONGEST_TERM
    assert all(isinstance(token, str) for token in tokens_of(text))
