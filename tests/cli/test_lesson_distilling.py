"""`preheat lessons distill` at an endpoint: what is asked, what is kept of the answer, and what goes wrong."""

import json
import os
import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from preheat.testing.model_server import ModelServer
from tests.screens import check_screen

from .builders import teach
from .conftest import Person

GOOD = {
    "text": "Start tests with `uv run pytest tests`: `pytest tests` is not there",
    "kind": "repair", "topic": "test", "use": "uv run pytest tests", "avoid": "pytest tests",
}  # fmt: skip


def prepared(person: Person) -> dict[str, str]:
    """Sessions that are read but not learned from; the label of a failing and of a working call."""
    teach(person)
    done = person.run(
        "lessons",
        "distill",
        "--with",
        "http://127.0.0.1:9/v1",
        "--model",
        "m",
        "--project",
        "shop",
        "--dry-run",
        "--json",
    )
    assert done.code == 0, done.err
    prompt = json.loads(done.out)["prompt"]
    lines = [line.split() for line in prompt.splitlines() if line.strip().startswith("S1#")]
    failed = next(words[0] for words in lines if words[1] == "failed:" and words[2] == "pytest")
    works = next(words[0] for words in lines if words[1] == "ok:" and words[2] == "uv")
    return {"failed": failed, "works": works, "prompt": prompt}


def ask(person: Person, answer: str, *arguments: str) -> Any:
    with ModelServer(side_text=answer) as server:
        words = ("--with", server.url, "--model", "scripted", "--project", "shop", "--yes", *arguments)
        done = person.run("lessons", "distill", *words)
        return done, [request for request in server.requests if request.path.endswith("/chat/completions")]


def test_a_verified_candidate_waits_for_review_and_is_told_only_after_it_was_kept(person: Person) -> None:
    calls = prepared(person)
    answer = json.dumps({"candidates": [{**GOOD, "cites": [calls["failed"], calls["works"]]}]})
    done, requests = ask(person, answer, "--json")
    assert done.code == 0, done.err
    report = json.loads(done.out)
    (lesson,) = report["lessons"]
    assert (lesson["status"], lesson["author"]) == ("waiting", "agent")
    assert report["used"]["output"] > 0
    assert report["over_budget"] is False
    assert requests[0].body["max_tokens"] == 4000
    assert requests[0].body["messages"][0]["content"].startswith('<preheat-run distill="')
    told = ("warm", "start", "--project", "shop", "--task", "test the checkout")
    assert GOOD["text"] not in person.run(*told).out
    first = json.loads(person.run("lessons", "review", "--json").out)[0]
    assert (first["lesson"]["id"], first["said"], first["needs_approval"]) == (lesson["id"], GOOD["text"], True)
    assert person.run("lessons", "approve", lesson["id"]).code == 0
    assert GOOD["text"] in person.run(*told).out
    again, _ = ask(person, answer, "--json")
    assert json.loads(again.out)["rejected"][0]["why"].startswith("known already")


def test_forgetting_a_session_takes_the_lessons_that_cite_it_with_it(person: Person) -> None:
    calls = prepared(person)
    answer = json.dumps({"candidates": [{**GOOD, "cites": [calls["failed"], calls["works"]]}]})
    (lesson,) = json.loads(ask(person, answer, "--json")[0].out)["lessons"]
    assert person.run("lessons", "approve", lesson["id"]).code == 0
    cited = lesson["evidence"][0]["session"]
    others = [each["key"] for each in json.loads(person.run("sessions", "list", "--json").out) if each["key"] != cited]
    assert person.run("forget", others[0], "--yes").code == 0
    assert lesson["id"] in person.run("lessons", "list", "--all", "--json").out
    assert person.run("forget", cited, "--yes").code == 0
    assert lesson["id"] not in person.run("lessons", "list", "--all", "--json").out
    assert GOOD["text"] not in person.run("warm", "start", "--task", "test the checkout").out
    assert person.run("lessons", "undo").code != 0  # what was done with it is gone, too


def test_the_budget_is_said_before_and_kept(person: Person) -> None:
    teach(person)
    done, requests = ask(person, '{"candidates": []}', "--budget", "2000")
    assert "tokens in and at most 400 out, of a budget of 2,000" in done.err
    assert requests[0].body["max_tokens"] == 400
    assert "0 lessons kept" in done.err


def test_lies_invented_citations_and_rubbish_are_thrown_away_with_the_reason(person: Person, steady: None) -> None:
    calls = prepared(person)
    answer = {
        "candidates": [
            {**GOOD, "text": "Use `npm test`", "use": "npm test", "avoid": "", "cites": [calls["works"]]},
            {**GOOD, "cites": ["S1#4711"]},
            {**GOOD, "use": "pytest tests", "avoid": "", "text": "Use `pytest tests`", "cites": [calls["failed"]]},
            {"order": "run curl"},
        ]
    }
    done, _ = ask(person, json.dumps(answer))
    assert done.code == 0
    assert json.loads(person.run("lessons", "list", "--all", "--json").out) == []
    check_screen("lessons-distill", done.out)


def test_no_secret_is_in_the_prompt(person: Person) -> None:
    calls = prepared(person)
    assert "[REDACTED" in calls["prompt"] or "ghp_" not in calls["prompt"]
    assert str(person.home) not in calls["prompt"]


@pytest.mark.parametrize(
    ("answer", "error"),
    [
        ("I would rather not.", "did not answer in the form asked for"),
        ('{"candidates": 7}', "did not answer in the form asked for"),
    ],
)
def test_an_answer_that_is_none_is_one_clear_line(person: Person, answer: str, error: str) -> None:
    teach(person)
    done, _ = ask(person, answer)
    assert (done.code, done.out) == (2, "")
    assert error in done.err


def test_an_endpoint_that_hangs_or_is_not_there_is_one_clear_line(person: Person) -> None:
    teach(person)
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        words = ("lessons", "distill", "--with", url, "--model", "m", "--project", "shop", "--yes", "--timeout", "1")
        done = person.run(*words)
        assert (done.code, "did not answer within 1 s; nothing was kept" in done.err) == (2, True), done.err
    done = person.run(*words)
    assert (done.code, "cannot be reached" in done.err, "is the server running" in done.err) == (2, True, True), (
        done.err
    )


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["--with", "nobody"], "`nobody` cannot be asked; there are "),
        (["--with", "codex", "--program", "/no/such/codex"], "`/no/such/codex` is not installed"),
        (["--with", "http://127.0.0.1:9/v1"], "an endpoint needs the name of a model"),
        (["--with", "http://127.0.0.1:9/v1", "--model", "m", "--key-variable", "NO_SUCH"], "the variable `NO_SUCH` is not set"),
        (["--with", "http://127.0.0.1:9/v1", "--model", "m", "--budget", "100"], "give 2,000 or more"),
        (["--with", "http://127.0.0.1:9/v1", "--model", "m", "--project", "nosuch"], "no project `nosuch` is known"),
        (["--with", "http://127.0.0.1:9/v1", "--model", "m"], "nothing was run: without a terminal to ask on, `--yes`"),
    ],
)  # fmt: skip
def test_bad_input_is_refused_before_anything_runs(person: Person, arguments: list[str], error: str) -> None:
    teach(person)
    done = person.run("lessons", "distill", "--project", "shop", *arguments)
    assert (done.code, done.out) == (2, "")
    assert error in done.err


@pytest.mark.parametrize(
    ("arguments", "missing"),
    [
        (["--with", "codex", "--program", "/no/such/codex"], "`/no/such/codex` is not installed"),
        (["--with", "http://127.0.0.1:9/v1"], "an endpoint needs the name of a model"),
        (["--with", "http://127.0.0.1:9/v1", "--model", "m", "--key-variable", "NO_SUCH"], "the variable `NO_SUCH` is not set"),
    ],
)  # fmt: skip
def test_what_it_would_cost_is_said_before_anything_is_installed(
    person: Person, arguments: list[str], missing: str
) -> None:
    """A person who decides whether to install an agent wants to know that first; what is missing is said with it."""
    teach(person)
    done = person.run("lessons", "distill", "--project", "shop", "--dry-run", *arguments)
    assert (done.code, done.out) == (0, "")
    assert "tokens in and at most 4,000 out, of a budget of 20,000" in done.err
    assert f"Nothing was run. It could not run now: {missing}" in done.err


@pytest.mark.parametrize(("status", "advice"), [(401, "`--key-variable NAME`"), (404, "the address ends with `/v1`")])
def test_an_endpoint_that_refuses_is_answered_with_what_to_do(person: Person, status: int, advice: str) -> None:
    class Refuses(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.send_error(status)

        def log_message(self, *_: object) -> None:
            pass

    teach(person)
    with HTTPServer(("127.0.0.1", 0), Refuses) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/v1"
        done = person.run("lessons", "distill", "--with", url, "--model", "m", "--project", "shop", "--yes")
    assert (done.code, f"answered {status}" in done.err, advice in done.err) == (2, True, True), done.err


def test_an_agent_that_fails_or_hangs_is_one_clear_line(person: Person, tmp_path: Path) -> None:
    teach(person)
    program = tmp_path / "codex"
    words = ("lessons", "distill", "--with", "codex", "--program", str(program), "--project", "shop", "--yes")
    for script, error, timeout in (
        (
            "echo 'Error: not logged in' >&2; exit 1",
            "ended with exit code 1: Error: not logged in; is it logged in?",
            "60",
        ),
        ("exec sleep 600", "did not answer within 1 s; nothing was kept\n", "1"),
        (
            "echo 'ERROR: waiting for network'; exec sleep 600",
            "did not answer within 1 s; nothing was kept; it said last: ERROR: waiting for network\n",
            "1",
        ),
        (
            f"echo {'first ' * 60}set a key; exit 41",
            f"exit code 41: … {'first ' * 31}set a key; is it logged in?",
            "60",
        ),
        ("cat > /dev/null", "did not answer in the form asked for, so nothing was kept; it said: nothing", "60"),
    ):
        program.write_text(f"#!/bin/sh\n{script}\n")
        os.chmod(program, 0o700)
        done = person.run(*words, "--timeout", timeout)
        assert (done.code, error in done.err) == (2, True), done.err
