"""What the session itself did, as evidence: files it moved and made, programs that its shell did not find, how others started."""

import pytest
from msgspec import structs

from preheat.answers import Answer, Failure, SessionFacts, answer_failure, warn_before
from preheat.answers.facts import update_facts
from preheat.answers.history import PastCommand, summarise_history
from preheat.answers.missing import find_meant
from preheat.model.live import CallEvent
from tests.answers.tree import ROOT, MemoryTree, reading, shell

TREE = MemoryTree({f"{place}/{name}.py": "" for place in "abcdef" for name in ("cart", "util")})


def ran(command: str, error: str = "") -> CallEvent:
    return CallEvent(
        tool="Bash",
        kind="shell",
        activity="shell:other",
        summary=command,
        status="failed" if error else "ok",
        signature=error,
    )


def facts_of(*events: CallEvent) -> SessionFacts:
    facts = SessionFacts()
    for event in events:
        facts = update_facts(facts, event)
    return facts


def warning(command: str, facts: SessionFacts) -> Answer | None:
    return warn_before(shell(command), TREE, facts=facts)


def test_a_file_that_the_session_moved_is_named_at_its_new_place() -> None:
    facts = facts_of(
        structs.replace(
            ran("git mv old/x.py a/cart.py"), files=("old/x.py",), removed=("old/x.py",), edited=("a/cart.py",)
        )
    )
    assert find_meant(f"{ROOT}/old/x.py", TREE, ROOT, facts) == (f"{ROOT}/a/cart.py",)
    found = answer_failure(Failure(reading(f"{ROOT}/old/x.py"), "File does not exist."), TREE, facts=facts)
    assert found is not None
    assert found.text == "Nothing is at this call's path; `a/cart.py` exists."


def test_of_what_the_session_removed_or_could_not_write_no_other_file_is_meant() -> None:
    removed = structs.replace(ran("git rm -r crates/old"), removed=("crates/old",))
    written = CallEvent(
        tool="Write", kind="write", activity="write", status="denied", signature="hook error", files=("docs/carts.py",)
    )
    tree = MemoryTree({"a/cart.py": "", "docs/cart.py": ""})
    for event, path in ((removed, "crates/old/src/cart.py"), (written, "docs/carts.py")):
        failure = Failure(shell(f"ls {path}"), f"ls: {path}: No such file or directory")
        assert answer_failure(failure, tree) is not None
        assert answer_failure(failure, tree, facts=facts_of(event)) is None
        assert warn_before(failure.call, tree, facts=facts_of(event)) is None
        made = structs.replace(written, status="ok", files=(path,), edited=(path,))
        if event is written:
            assert answer_failure(failure, tree, facts=facts_of(event, made)) is not None


def test_a_path_that_an_edit_did_not_find_was_no_attempt_to_write_it() -> None:
    missed = CallEvent(
        tool="Edit",
        kind="edit",
        activity="edit",
        status="failed",
        signature="File does not exist.",
        files=("x/cart.py",),
    )
    assert facts_of(missed).absent == ()


def test_of_many_of_the_same_name_those_are_named_that_the_session_had_to_do_with() -> None:
    assert find_meant(f"{ROOT}/x/util.py", TREE, ROOT) == ()
    facts = facts_of(
        structs.replace(ran("cat c/util.py"), files=("c/util.py",)),
        structs.replace(ran("cat e/util.py"), files=("e/util.py",)),
    )
    assert find_meant(f"{ROOT}/x/util.py", TREE, ROOT, facts) == (f"{ROOT}/e/util.py", f"{ROOT}/c/util.py")


def test_a_file_that_is_in_no_list_of_the_project_yet_is_found_because_the_session_made_it() -> None:
    class Unlisted(MemoryTree):
        def find(self, name: str) -> tuple[str, ...]:
            return ()

    tree, facts = Unlisted({"deep/new_one.py": ""}), SessionFacts(files=("deep/new_one.py",))
    assert find_meant(f"{ROOT}/new_one.py", tree, ROOT) == ()
    assert find_meant(f"{ROOT}/new_one.py", tree, ROOT, facts) == (f"{ROOT}/deep/new_one.py",)


def test_a_program_that_the_shell_did_not_find_is_warned_of_until_it_ran_or_was_installed() -> None:
    lost = ran("gum choose a b", "command not found: gum")
    found = warning("gum style x", facts_of(lost))
    assert found is not None
    assert found.text == "The shell here did not find `gum`."
    assert warning("gum style x", facts_of(lost, ran("gum --version"))) is None
    assert warning("gum style x", facts_of(lost, ran("brew install gum"))) is None
    assert warning("cat a/cart.py", facts_of(lost)) is None


@pytest.mark.parametrize(
    "command",
    ["npm run lint", "for path in a b; do gum $path; done", "PATH=/opt/bin gum x", "echo `gum`"],
)
def test_a_program_that_another_one_missed_or_that_a_changed_path_hid_is_not(command: str) -> None:
    if command == "echo `gum`":
        assert warning("echo gum", facts_of(ran(command, "command not found: gum"))) is None
        return
    assert warning("gum style x", facts_of(ran(command, "command not found: gum"))) is None


def test_a_missing_program_around_another_one_is_warned_of_by_earlier_sessions() -> None:
    past = [
        PastCommand(f"s{number}", "timeout 5 make", "failed", "environment", "command not found: timeout")
        for number in range(2)
    ]
    found = warn_before(shell("timeout 9 npm test"), TREE, summarise_history(past))
    assert found is not None
    assert found.text == "The shell here did not find `timeout` in 2 earlier sessions."
    assert warn_before(shell("timeout 9 npm test || true"), TREE, summarise_history(past)) is None


def test_a_program_that_ran_by_its_other_name_is_named_by_that() -> None:
    past = [
        PastCommand(f"s{number}", "python x.py", "failed", "environment", "command not found: python")
        for number in "12"
    ]
    other = PastCommand("s2", "python3 x.py", "ok", None, "")
    found = warn_before(shell("git status && python y.py"), TREE, summarise_history([*past, other]))
    assert found is not None
    assert found.text.startswith("`python3` worked here in one earlier session; ")
    own = PastCommand("s2", ".venv/bin/python x.py", "ok", None, "")
    found = warn_before(shell("python y.py"), TREE, summarise_history([*past, other, own]))
    assert found is not None
    assert found.remedies == (".venv/bin/python",)


def test_a_missing_program_is_named_where_it_is_installed_unless_another_way_to_start_it_is_known() -> None:
    lost = [
        PastCommand(f"s{number}", "cargo build", "failed", "environment", "command not found: cargo")
        for number in (1, 2)
    ]
    by_mise = PastCommand("s3", "mise exec -- cargo build", "ok", None, "")
    tree = MemoryTree({"Cargo.toml": ""})
    tree.programs["cargo"] = "~/.cargo/bin/cargo"

    def said(*past: PastCommand, command: str = "cargo test", facts: SessionFacts | None = None) -> str:
        found = warn_before(shell(command), tree, summarise_history(past), facts)
        return found.text if found is not None else ""

    installed = "`~/.cargo/bin/cargo` is installed; the shell here did not find the program of this call"
    assert said(*lost) == f"{installed} in 2 earlier sessions."
    assert said(facts=facts_of(ran("cargo build", "command not found: cargo"))) == f"{installed}."
    assert "mise exec -- cargo" in said(*lost, by_mise)
    assert "installed" not in said(*lost, by_mise)
    assert said(*lost, command="ls ~/.cargo/bin/cargo && cargo test").startswith("The shell here did not find")
    assert said(*lost, command='export PATH="$HOME/.cargo/bin:$PATH" && cargo test') == ""


def test_a_program_that_was_put_where_every_shell_looks_is_warned_of_only_if_this_session_missed_it() -> None:
    lost = [
        PastCommand(f"s{number}", "jq . a.json", "failed", "environment", "command not found: jq") for number in (1, 2)
    ]
    tree = MemoryTree({"a.json": ""})
    assert warn_before(shell("jq .b a.json"), tree, summarise_history(lost)) is not None
    tree.programs["jq"] = "/usr/bin/jq"
    assert warn_before(shell("jq .b a.json"), tree, summarise_history(lost)) is None
    facts = facts_of(ran("jq . a.json", "command not found: jq"))
    found = warn_before(shell("jq .b a.json"), tree, summarise_history(lost), facts)
    assert found is not None
    assert found.remedies == ("/usr/bin/jq",)


def test_one_session_that_did_not_find_a_program_is_enough_only_where_no_other_way_to_start_it_is_known() -> None:
    lost = PastCommand("s1", "node x.js", "failed", "environment", "command not found: node")
    by_path = PastCommand("s1", "/opt/node/bin/node x.js", "ok", None, "")
    assert warn_before(shell("node --version"), TREE, summarise_history([lost])) is not None
    assert warn_before(shell("node --version"), TREE, summarise_history([lost, by_path])) is None


def test_a_program_is_named_as_this_session_started_it_before_the_projects_own_of_that_name() -> None:
    tree = MemoryTree({"bin/tool": "", "target/debug/tool": ""})
    failure = Failure(shell("tool check"), "zsh:1: command not found: tool")
    own = answer_failure(failure, tree)
    assert own is not None
    assert own.remedies == (f"{ROOT}/bin/tool",)
    started = answer_failure(failure, tree, facts=facts_of(ran("target/debug/tool check --all")))
    assert started is not None
    assert started.text == "The program of this call was started by `target/debug/tool` in this session."


def test_in_zsh_a_loop_over_path_hides_the_programs() -> None:
    text = "for path in a b; do git show $path; done"
    found = answer_failure(Failure(shell(text), "zsh:1: command not found: git"), TREE)
    assert found is not None
    assert "with another name" in found.text
    assert warning(text, SessionFacts(refuses_patterns=True)) is not None
    assert warning(text, SessionFacts()) is None
    for other in (
        "python3 - <<'PY'\nfor path in paths:\n    print(path)\nPY",
        "python3 -c 'for path in [1]: print(path)'",
        "gh api repos/x -f path=docs",
    ):
        assert warning(other, SessionFacts(refuses_patterns=True)) is None, other
    assert warning("for file_path in a b; do git show $file_path; done", SessionFacts(refuses_patterns=True)) is None
