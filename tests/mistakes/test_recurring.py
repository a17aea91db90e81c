"""Repeated mistakes: what counts as the same one, what it cost, and what is honestly called its repair."""

import json
from collections.abc import Sequence
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from preheat.calls.shell import command_form
from preheat.calls.words import telling_words
from preheat.lessons.learner import SessionNotes
from preheat.lessons.repairs import learn
from preheat.mistakes.failure import title
from preheat.mistakes.recurring import add_up_waits, find_mistakes
from preheat.mistakes.tries import MistakenCall, take_notes
from preheat.model.mistake import MISTAKE_COSTS, Mistake
from preheat.model.outcome import CAUSES
from preheat.model.profile import FailureFact
from tests.lessons.sessions import Made, ran, seen, used


def failure(session: str = "one", seq: int = 0, **changes: Any) -> FailureFact:
    fact = FailureFact(
        key=session, seq=seq, agent="agent", project="/w/p", at=1000.0 + seq, tool="Edit", kind="edit", activity="edit",
        bookkeeping=False, status="failed", cause="mistake", signature="String to replace not found in file", summary="a.py",
        lost_seconds=4.0, lost_tokens=100, recovered_in=None, repair_tool=None, repair_summary=None,
    )  # fmt: skip
    return fact._replace(**changes)


def test_a_mistake_must_occur_in_two_sessions() -> None:
    """Ten failures of one session are its own trouble; one each in two sessions is a repeated mistake."""
    alone = [failure("one", seq, signature="only here") for seq in range(10)]
    shared = [failure("one", 20), failure("two", 3)]
    found = find_mistakes([*alone, *shared])
    assert [(each.title, each.calls) for each in found.mistakes] == [("String to replace not found in file", 2)]
    assert (found.failures, found.sessions, found.calls, found.seconds, found.tokens) == (12, 2, 2, 8.0, 200)
    assert len(find_mistakes([*alone, *shared], min_sessions=1).mistakes) == 2


def test_findings_and_bookkeeping_are_no_mistakes_unless_asked() -> None:
    """Failing tests are work; the agent's notes to itself never count."""
    facts = [failure(name, cause="finding", signature="N failed") for name in ("one", "two")]
    facts += [failure(name, bookkeeping=True) for name in ("one", "two")]
    assert find_mistakes(facts).mistakes == ()
    assert [each.cause for each in find_mistakes(facts, causes=("finding",)).mistakes] == ["finding"]


def test_the_same_message_of_another_kind_of_tool_is_another_mistake() -> None:
    facts = [failure(name, kind=kind) for name in ("one", "two") for kind in ("edit", "write")]
    assert sorted(each.family for each in find_mistakes(facts).mistakes) == ["edit", "write"]


def test_a_tool_of_no_kind_is_its_own_family() -> None:
    facts = [failure(name, kind="other", tool="deploy") for name in ("one", "two")]
    assert find_mistakes(facts).mistakes[0].family == "deploy"


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        ("no such file PATH", "no such file …", True),
        ("a b c d e f g h one x y z", "a b c d e f g h two x y z", True),
        ("Traceback most recent call last file in line N TypeError no attribute",
         "Traceback most recent call last file in line N KeyError missing key", False),
        ("no such file", "no such folder", False),
        ("exit N", "EXIT N", True),
    ],
)  # fmt: skip
def test_messages_are_merged_only_when_they_begin_and_end_alike(left: str, right: str, same: bool) -> None:
    assert (telling_words(left) == telling_words(right)) is same


def test_a_failure_without_words_is_counted_but_not_named() -> None:
    """Nor is one whose tool said nothing but its exit code, or printed its help: that is no message to know it by."""
    said = ["", "N PATH", "exit code N, no message", "exit status N", "-h, --help show this help"]
    found = find_mistakes(failure(name, signature=text) for text in said for name in ("one", "two"))
    assert (found.mistakes, found.failures, found.unnamed) == ((), 10, 10)


def test_ranking_follows_the_cost_that_is_asked_for() -> None:
    facts = [failure(name, seq, signature="often", lost_seconds=0, lost_tokens=1) for name in "ab" for seq in range(3)]
    facts += [failure(name, signature="slow", lost_seconds=60.0, lost_tokens=0) for name in "ab"]
    facts += [failure(name, signature="large", lost_seconds=1.0, lost_tokens=900) for name in "ab"]
    first = {by: find_mistakes(facts, by=by).mistakes[0].title for by in MISTAKE_COSTS}
    assert first == {"calls": "often", "minutes": "slow", "tokens": "large"}


def test_what_a_person_can_mend_comes_first_and_is_named_by_its_command() -> None:
    """How an agent uses its own tools is its own affair, however often it goes wrong; a missing script is not."""
    facts = [failure(name, seq) for name in "ab" for seq in range(9)]
    shell = {"tool": "Bash", "kind": "shell", "summary": "cd web && npm test", "signature": "Missing script: 'test'"}
    facts += [failure(name, 20, **shell) for name in "ab"]
    down = {**shell, "summary": "psql -c 'select 1'", "signature": "connection refused", "cause": "environment"}
    facts += [failure(name, 30, **down) for name in "abc"]
    found = find_mistakes(facts).mistakes
    assert [(each.command, each.cause, each.mendable) for each in found] == [
        ("psql -c …", "environment", True), ("npm test", "mistake", True), ("", "mistake", False),
    ]  # fmt: skip
    assert [each.title for each in found[1:]] == [
        "npm test: Missing script: 'test'",
        "String to replace not found in file",
    ]


def test_a_look_at_a_file_that_is_not_there_is_nothing_that_a_person_can_mend() -> None:
    shell = {"tool": "Bash", "kind": "shell", "signature": "No such file or directory"}
    facts = [failure(name, seq, summary="ls src/old", **shell) for name in "ab" for seq in range(5)]
    lock = {**shell, "signature": "Unable to create index.lock: File exists", "summary": "git commit -m x"}
    facts += [failure(name, 9, **lock) for name in "ab"]
    found = find_mistakes(facts).mistakes
    assert [(each.command.split()[0], each.mendable) for each in found] == [("git", True), ("ls", False)]


def test_a_guess_at_what_is_not_there_is_nothing_to_mend_whatever_its_cause_and_however_it_was_chained() -> None:
    """The message names the program where the calls have no form in common; a removal of what is gone is a guess, too. A look
    that fails for another reason of the machine stays with the person."""
    shell = {"tool": "Bash", "kind": "shell"}
    gone = {**shell, "signature": "ls: PATH: No such file or directory", "cause": "environment"}
    facts = [failure(name, 1, summary="ls .git/index.lock", **gone) for name in "abc"]
    chained = {**shell, "signature": "fn …: rg: ensembler: No such file or directory (os error N)"}
    facts += [failure(name, 2, summary=f"{words} && rg x ensembler", **chained) for name, words in
              (("a", "uname -a"), ("b", "make one"), ("c", "cargo build"))]  # fmt: skip
    removed = {**shell, "signature": "rm: PATH: No such file or directory", "cause": "environment"}
    facts += [failure(name, 3, summary="rm .git/index.lock", **removed) for name in "ab"]
    refused = {**shell, "signature": "find: PATH: Permission denied", "cause": "environment"}
    facts += [failure(name, 4, summary="find / -name x", **refused) for name in "ab"]
    found = {each.signatures[0].partition(" ")[0]: each.mendable for each in find_mistakes(facts).mistakes}
    assert found == {"find:": True, "ls:": False, "fn": False, "rm:": False}


def test_a_title_says_what_masks_leave_and_no_mask_by_itself() -> None:
    assert title("TimeoutError: locator.click: Timeout Nms exceeded") == (
        "TimeoutError: locator.click: Timeout … ms exceeded"
    )
    assert title("rg: src: No such file or directory (os error N)") == "rg: src: No such file or directory"
    assert title("Nothing to commit") == "Nothing to commit"


def test_a_title_names_no_command_where_the_calls_have_none_in_common() -> None:
    shell = {"tool": "Bash", "kind": "shell", "signature": "Permission denied"}
    facts = [failure(name, 1, summary=name, **shell) for name in ("alpha", "beta", "gamma")]
    (mistake,) = find_mistakes(facts).mistakes
    assert (mistake.title, mistake.command) == ("Permission denied", "")


@pytest.mark.parametrize(
    ("commands", "message", "name"),
    [
        (["shop check --all --slow", "shop check --all src"], "no such case", "shop check --all …: no such case"),
        (["gh pr edit 12 --repo a/b --body x"] * 2, "is deprecated", "gh pr edit …: is deprecated"),
        (["shop send one -m x", "shop run --base main", "shop add one"], "unexpected argument", "shop …: unexpected argument"),
        (["shop check --all", "git status && shop fix -S it"], "command not found: shop", "command not found: shop"),
        (["cd web && npm test"] * 2, "Missing script", "npm test: Missing script"),
    ],
)  # fmt: skip
def test_a_title_names_the_command_as_it_was_typed(commands: list[str], message: str, name: str) -> None:
    """Its subcommand and its options in their order, as far as the calls begin alike; where they are different commands of one
    program, that program."""
    facts = [
        failure(str(number), tool="Bash", kind="shell", signature=message, summary=command)
        for number, command in enumerate(commands)
    ]
    (mistake,) = find_mistakes(facts).mistakes
    assert mistake.title == name


def test_a_title_that_would_begin_with_a_gap_names_the_tool() -> None:
    facts = [failure(name, kind="other", tool="list_stock", signature="PATH failed: unknown server") for name in "ab"]
    assert find_mistakes(facts).mistakes[0].title == "list_stock: … failed: unknown server"


def test_a_name_of_a_command_has_no_value_of_an_option() -> None:
    """It may be anything: the name of an account, of a host, of a customer."""
    facts = [("one", "Bash", "shell", "psql -U keeper -d shop -c 'select 1'", 4.0)]
    assert [each.command for each in add_up_waits(facts)] == ["psql -U …"]  # type: ignore[arg-type]


def test_what_waited_for_a_person_is_added_up_by_command() -> None:
    denied = [
        ("one", "Bash", "shell", "git push origin main", 60.0), ("two", "Bash", "shell", "git push origin feature", 30.0),
        ("two", "WebFetch", "web", "https://example.org", None),
    ]  # fmt: skip
    found = [(each.command, each.calls, each.sessions, each.seconds) for each in add_up_waits(denied)]  # type: ignore[arg-type]
    assert found[0][1:] == (2, 2, 90.0)
    assert found[0][0].startswith("git push")
    assert found[1] == ("WebFetch", 1, 1, 0.0)


def test_a_title_has_gaps_for_masks_and_no_empty_word_before_it() -> None:
    facts = [failure(name, signature="Error: no such file: PATH N, line N") for name in ("one", "two")]
    assert find_mistakes(facts).mistakes[0].title == "no such file: …, line …"


def test_the_id_stays_the_same_when_more_is_seen() -> None:
    """A person can note an id and come back to it."""
    before = find_mistakes([failure("one"), failure("two")]).mistakes[0]
    after = find_mistakes([failure("three", 7, agent="other"), failure("two"), failure("one")]).mistakes[0]
    assert before.id == after.id


def test_one_message_is_one_mistake_whatever_the_cause_of_each_call() -> None:
    facts = [failure("one"), failure("two"), failure("three", cause="environment")]
    (mistake,) = find_mistakes(facts).mistakes
    assert (mistake.calls, mistake.cause) == (3, "mistake")


# Repairs.
UNREAD = "The file was not read yet"


def met(*sessions: Sequence[Made], noted: bool = True) -> Mistake:
    """The one mistake that these sessions met."""
    facts: list[FailureFact] = []
    tries: dict[str, dict[int, MistakenCall]] = {}
    for number, calls in enumerate(sessions):
        looked_at = seen(calls, key=f"tester:{number}")
        found = take_notes(looked_at)
        tries[looked_at.key] = {each.seq: each for each in found.mistakes} if found is not None and noted else {}
        for each in looked_at.calls:
            record = each.record
            if each.failed and record.cause != "finding":
                facts.append(
                    failure(
                        looked_at.key, record.seq, tool=record.tool, kind=record.kind, cause=record.cause,
                        signature=record.signature, recovered_in=record.recovered_in,
                    )
                )  # fmt: skip
    (mistake,) = find_mistakes(facts, notes_of=tries.__getitem__).mistakes
    return mistake


def edit(old: str, failed: str = "") -> Made:
    return used(
        "Change", "edit", {"path": "src/a.py", "old": old, "new": "x"}, failed, cause="mistake" if failed else None
    )


def read(path: str = "src/a.py") -> Made:
    return used("Look", "read", {"path": path})


def test_the_usual_repair_includes_the_steps_between() -> None:
    """An edit that failed is put right by an edit; what mends it is the read before, whatever became of the text."""
    same = [edit("a b", UNREAD), read(), ran("git status"), edit("a b")]
    longer = [edit("a b", UNREAD), read(), edit("a b c")]
    another = [edit("a b", UNREAD), read(), edit("nothing in common")]
    mistake = met(same, longer, another, [edit("a b", UNREAD)])
    assert mistake.repair is not None
    assert (mistake.repair.form, mistake.repair.count) == ("after reading the file", 3)
    assert (mistake.calls, mistake.recovered) == (4, 3)


def test_rare_steps_between_are_no_part_of_the_repair() -> None:
    """All sessions wrote the text longer, and half of them looked at the file before: the text is what mends it."""
    longer = [edit("a b", "The text is there twice"), edit("a b c")]
    mistake = met(longer, longer, [longer[0], read(), longer[1]], [longer[0], read(), longer[1]])
    assert mistake.repair is not None
    assert mistake.repair.form == "with a longer `old`, with more of what stands around it"


def test_one_lucky_call_is_no_usual_repair() -> None:
    failed = ran("npm test", "missing script: test", 1)
    mistake = met([failed, ran("npm run test:unit")], [failed, ran("npm test -- --all")])
    assert (mistake.repair, mistake.calls) == (None, 2)


def test_no_recovery_is_no_repair() -> None:
    mistake = met([edit("a", UNREAD)], [edit("a", UNREAD)])
    assert (mistake.repair, mistake.recovered) == (None, 0)


def test_looking_around_is_no_part_of_a_repair() -> None:
    failed = ran("pytest", "No module named flask", 1, cause="environment")
    mistake = met(
        *[[failed, ran("ls -la"), ran(f"pip install {name}"), ran("pytest -q")] for name in ("flask", "flask==3")]
    )
    assert mistake.repair is not None
    assert mistake.repair.form == "after `pip install …`"


def test_an_option_that_the_message_asks_for_is_the_repair() -> None:
    failed = ran("git push", "no upstream: use --set-upstream", 128)
    mistake = met(*[[failed, ran("git commit -m x"), ran("git push --set-upstream")]] * 2)
    assert mistake.repair is not None
    assert mistake.repair.form == "with `--set-upstream`"


def given_up_for(*forms: str, command: str = "npm test") -> Mistake:
    """The same failing command in a session each, with what was used instead there."""
    failures = [
        failure(f"s{place}", kind="shell", tool="Bash", summary=command, signature="missing script test in the project")
        for place in range(len(forms))
    ]
    used = {f"s{place}": {0: form} for place, form in enumerate(forms)}
    (found,) = find_mistakes(failures, alternatives_of=lambda session: used[session]).mistakes
    return found


def test_a_command_that_was_given_up_for_another_of_the_same_purpose_has_that_as_its_repair() -> None:
    found = given_up_for("pnpm run test:unit", "pnpm run test:unit", "", "make test")
    assert found.repair is not None
    assert found.repair.form == "with `pnpm run test:unit` instead of `npm test`"
    assert (found.repair.count, found.repair.instead, found.recovered) == (2, "pnpm run test:unit", 2)
    assert [each.repair for each in found.occurrences] == ["pnpm run test:unit", "pnpm run test:unit", "", ""]


@pytest.mark.parametrize(
    ("forms", "command"),
    [
        (("pnpm run test:unit", ""), "npm test"),
        (("pnpm run test:unit", "pnpm run test:unit", "make test", "make test"), "npm test"),
        (("npm test", "npm test"), "npm test"),
        (("git checkout …", "git checkout …"), "npm test"),
        (("git checkout …", "git checkout …"), "rm x"),
        (("rg x", "rg x"), "grep x src"),
    ],
    ids=["once", "as often another", "itself", "another purpose", "no purpose", "a search"],
)
def test_what_was_done_then_is_no_repair_unless_most_sessions_did_it_for_the_same_work(
    forms: tuple[str, ...], command: str
) -> None:
    found = given_up_for(*forms, command=command)
    assert found.repair is None
    assert found.recovered == 0


def test_other_messages_of_a_mistake_are_shown_as_the_title_is_without_masks() -> None:
    """A mask in the place of a path or a number is how messages are compared, and nothing that a tool printed."""
    shell = {"tool": "Bash", "kind": "shell", "summary": "make it"}
    said = ["make: PATH: No rule (error N)", "make: PATH: No rule (error N)", "make: .PATH: No rule (error N)"]
    facts = [failure(name, 1, signature=text, **shell) for name, text in zip("abc", said, strict=True)]
    (mistake,) = find_mistakes(facts).mistakes
    assert (mistake.message, mistake.variants) == ("make: …: No rule", ("make: .…: No rule",))


def test_a_title_names_the_whole_of_a_command_that_works_when_a_part_is_left_out() -> None:
    """`bun run test` does not fail where `rtk bun run test` does."""
    refused = "unrecognized subcommand run"
    mistake = met(*[[ran("rtk bun run test", refused, 2), ran("bun run test", "3 pass")]] * 3)
    assert mistake.title == f"rtk bun run test: {refused}"


@pytest.mark.parametrize(
    ("message", "command"),
    [
        ("husky - pre-commit script failed", "git commit -m …"),
        ("nothing to commit, working tree clean", "git commit -m …"),
        ("The paths are ignored by one of your files", "git add …"),
        ("rg: lib: No such file or directory", "rg -n …"),
    ],
)
def test_of_several_commands_the_title_names_the_one_that_the_message_is_about(message: str, command: str) -> None:
    """What stands in its quotes is an argument, and no command: `fn price` in `rg 'Cart|fn price'`."""
    several = "git add a.py b.py && rg -n 'Cart|fn price' lib && git commit -m 'x'"
    mistake = met(*[[ran(several, message, 1)]] * 2)
    assert mistake.command == command
    assert mistake.title == f"{command}: {message.removeprefix('rg: ')}"


def test_without_notes_no_repair_is_claimed() -> None:
    """That something worked later is known by the judge's verdicts; what made the difference is not."""
    mistake = met(*[[ran("pyhton a.py", "not found", 127), ran("python a.py")]] * 2, noted=False)
    assert mistake.repair is None


def test_the_example_shows_the_repair() -> None:
    mistake = met(*[[ran("rg Price src", "rg: not found", 127), ran("grep -r Price src")]] * 2)
    assert mistake.repair is not None
    assert (mistake.repair.form, mistake.repair.count) == ("with `grep` instead of `rg`", 2)
    assert (mistake.repair.failed, mistake.repair.worked) == ("rg Price src", "grep -r Price src")


def test_a_check_that_finds_something_was_put_right() -> None:
    """The judge calls failing tests no success; the command was right all the same."""
    calls = [
        ran("cargo test", "error: could not find Cargo.toml", 101),
        ran("cd app && cargo test", "1 failed", 101, cause="finding"),
    ]
    mistake = met(calls, calls)
    assert mistake.repair is not None
    assert (mistake.repair.form, mistake.recovered) == ("from the folder `app`", 2)


def test_a_change_that_failed_as_often_as_it_worked_is_no_repair() -> None:
    works = [edit("a b", UNREAD), read(), edit("a b")]
    fails = [edit("a b", UNREAD), read(), edit("a b", UNREAD)]
    assert met(works, works, fails, fails, fails, fails, fails, fails).repair is None


def test_another_thing_that_was_done_then_is_no_repair() -> None:
    """`rm` found no file, and `git checkout` then brought it back: that put nothing right."""
    calls = [ran("rm src/old.py", "rm: src/old.py: No such file or directory", 1), ran("git checkout src/old.py")]
    assert met(calls, calls, calls).repair is None


@pytest.mark.parametrize(
    "calls",
    [
        [edit("a b", UNREAD), read(), edit("a b c")],
        [ran("rg Price src", "rg: not found", 127), ran("grep -r Price src")],
        [ran("cargo test", "error: could not find Cargo.toml", 101), ran("cd app && cargo test")],
        [ran("git push", "no upstream: use --set-upstream", 128), ran("git push --set-upstream")],
        [ran("pytest", "No module named flask", 1), ran("pip install flask"), ran("pytest -q")],
    ],
)
def test_the_mistake_and_its_lesson_give_the_same_repair(calls: list[Made]) -> None:
    """The same message, the same repair, the same example."""
    mistake = met(calls, calls)
    assert mistake.repair is not None
    sessions = []
    for number in range(2):
        looked_at = seen(calls, key=f"tester:{number}")
        notes = take_notes(looked_at)
        assert notes is not None
        sessions.append(SessionNotes(looked_at.key, "tester", "shop", float(number), None, notes))
    (lesson,) = learn("shop", sessions)
    assert lesson.difference.rstrip(",") == mistake.repair.form
    assert lesson.error == mistake.message
    assert mistake.title.endswith(mistake.message.removeprefix("rg: "))
    assert (lesson.avoid, lesson.use) == (mistake.repair.failed, mistake.repair.worked)
    assert lesson.support.calls_for == mistake.repair.count


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("cd /w && git commit -m 'x y'", "git commit -m …"),
        ("npm run build", "npm run build"),
        ("python3 script.py --fast=1", "python script.py --fast"),
        ("/bin/bash -lc 'grep -R x src'", "grep -R …"),
        ("mise run lint 2>&1 | tail -3", "mise run lint"),
    ],
)
def test_the_form_of_a_command_has_no_operands(command: str, expected: str) -> None:
    assert command_form(command) == expected


texts = st.text(max_size=60)
facts_of_any_kind = st.builds(
    failure,
    st.sampled_from(["one", "two", "three"]),
    st.integers(0, 50),
    signature=texts,
    summary=texts,
    tool=texts,
    kind=st.sampled_from(["edit", "shell", "other", "read"]),
    cause=st.sampled_from([None, *CAUSES]),
    at=st.none() | st.floats(0, 2e9),
    recovered_in=st.none() | st.integers(1, 5),
    repair_tool=st.none() | texts,
    repair_summary=st.none() | texts,
    project=texts,
)


@settings(max_examples=150, deadline=None)
@given(st.lists(facts_of_any_kind, max_size=30), st.sampled_from(MISTAKE_COSTS), st.integers(1, 3))
def test_any_failures_give_sums_that_add_up(facts: list[FailureFact], by: Any, least: int) -> None:
    """Whatever tools said: nothing is lost, counted twice or unable to become JSON, and titles are one line."""
    found = find_mistakes(facts, by=by, min_sessions=least, causes=CAUSES)
    assert found.calls == sum(len(each.occurrences) for each in found.mistakes) <= found.failures
    assert found.failures == sum(fact.cause is not None for fact in facts)
    for each in found.mistakes:
        assert len(each.sessions) >= least
        assert each.recovered <= each.calls
        assert each.repair is None or 2 <= each.repair.count <= each.recovered
        assert "\n" not in each.title
        assert each.title
    try:
        encoded = msgspec.json.encode(found)
    except UnicodeEncodeError:
        return  # half a character out of a tool: `as_json` escapes it
    assert json.dumps(json.loads(encoded), allow_nan=False)
