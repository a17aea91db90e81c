"""A person's own words in a prompt, without what programs put before them. Knows neither sessions nor files."""

import re

LONGEST = 20_000
"""Characters of a prompt that are read; of a longer one half from each end."""
_WRAPPED = re.compile(r"\A\s*<([A-Za-z][\w-]{0,40})>.*?</\1>", re.DOTALL)
_LISTED = re.compile(r"\A\s*# [A-Z][^\n]*\n.*?^## My request\b[^\n]*\n", re.DOTALL | re.MULTILINE)
"""What a program lists before the request: files, an editor's state."""
_ADDRESS = re.compile(r"\b[a-z]{2,9}://\S+")


def without_addresses(text: str) -> str:
    """A text without addresses of pages: their words are those of a site, not of the work."""
    return _ADDRESS.sub(" ", text)


def own_words(prompt: str) -> str:
    """The prompt without blocks in tags, or under a heading, that a program put before it, unless nothing else is there."""
    if len(prompt) > LONGEST:
        prompt = f"{prompt[: LONGEST // 2]}\n{prompt[-LONGEST // 2 :]}"
    rest = prompt
    while (found := _WRAPPED.match(rest) or _LISTED.match(rest)) is not None:
        rest = rest[found.end() :]
    return rest if rest.strip() else prompt
