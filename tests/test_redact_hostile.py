"""Redaction takes time in proportion to the size of hostile input."""

import pytest

from preheat.ingest.redact import redact
from tests.growth import grows_in_proportion

HOSTILE = {
    "access key ids": b"AKIA",
    "key ids with bodies": b"AKIAAKIAAKIAAKIAAKIA ",
    "begins": b"-----BEGIN PRIVATE KEY-----",
    "begins with lines": b"-----BEGIN RSA PRIVATE KEY-----\\nMIIEaaaaaaaaaaaaaaaaaaaaaaaa",
    "half begins": b"-----BEGIN ",
    "urls": b"://aaaa:",
    "urls with names": b"http://aaaa:bbbb",
    "web tokens": b"eyJ",
    "web tokens with dots": b"eyJhbGciOiJIUzI1NiJ9.",
    "assignments": b"key=",
    "quoted assignments": b'password="',
    "mixed quotes": b"key=\"abcdefgh'",
    "nested names": b"secret_key_",
    "long names": b"passwordpassword",
    "bearers": b"Bearer ",
    "authorizations": b"authorization: ",
    "short keys": b"sk-",
    "dashes": b"-",
    "backslashes": b"\\",
    "escaped quotes": b'token\\\\\\":\\\\\\"',
    "aws": b"aws secret access key ",
    "flags": b"--token ",
    "telegram": b"123456789:AA",
    "azure": b"7Q~",
    "real tokens": b"ghp" + b"_a7Bc9dEf1GhI2jKl3MnO4pQr5StU6vWx7YzA8 ",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_input_costs_linear_time(name: str) -> None:
    """Eight times the input costs about eight times the time; a quadratic cost would be sixty-four times."""
    text = (HOSTILE[name] * ((1 << 18) // len(HOSTILE[name]))).decode("ascii")
    grows_in_proportion(lambda part: redact(part.encode("ascii")), text)
