"""Chains, occasions, durations, commits with their hooks, servers and variables: what sessions teach of a project's facts."""

from collections.abc import Sequence

from preheat.lessons.command_use import collect_commands
from preheat.lessons.commits import SessionCommits, collect_commits, learn_commit_forms
from preheat.lessons.servers import SessionServers, find_servers, learn_servers
from preheat.lessons.variables import SessionVariables, find_missing_variables, learn_variables
from preheat.model.lesson import Lesson
from preheat.model.outcome import Cause
from preheat.provisioning.lesson_text import describe_lesson
from tests.lessons.sessions import Made, ran, seen, used
from tests.lessons.test_conventions import learned


def uses(lessons: Sequence[Lesson]) -> dict[str, str]:
    return {lesson.use: lesson.status for lesson in lessons if lesson.use}


def test_a_chain_teaches_each_of_its_commands() -> None:
    found = uses(learned(*[[ran("mise run fmt && mise run lint 2>&1 | tail -5")]] * 4))
    assert found == {"mise run fmt": "active", "mise run lint": "active"}


def test_a_chain_behind_a_folder_teaches_folder_and_command() -> None:
    assert uses(learned(*[[ran("cd web && pnpm test")]] * 4)) == {"cd web && pnpm test": "active"}


def test_what_stands_before_a_finding_in_a_chain_worked() -> None:
    notes = collect_commands(seen([ran("make fmt && make test", "1 failed", 1, cause="finding", signature="1 failed")]))
    assert {each.way: each.ran_count for each in notes.used} == {"make fmt": 1, "make test": 1}


def test_sessions_without_an_occasion_do_not_count_against_a_command() -> None:
    """After 19 sessions that only looked around, a test command that had always worked is still handed out."""
    working = [[ran("go test ./...")] * 3] * 4
    looking = [[ran("ls"), ran("node script.js --flag")]] * 19
    assert uses(learned(*working, *looking))["go test ./..."] == "active"


def commits_of(*sessions: list[Made]) -> list[Lesson]:
    return learn_commit_forms(
        "shop", [SessionCommits(f"s{n}", float(n), collect_commits(seen(calls))) for n, calls in enumerate(sessions)]
    )


def test_the_form_of_messages_and_branches_is_learned_without_their_words() -> None:
    session = [
        ran("git checkout -b feat/cart-secret"),
        ran("git commit -m 'feat(cart): the secret plan'"),
        ran("git add -A && git commit -m \"$(cat <<'EOF'\nfix(pay): round\n\nmore\nEOF\n)\""),
        ran("git commit -m 'feat(cart): more'"),
        ran("gh pr create --base develop --title x"),
    ]
    lines = [describe_lesson(lesson) for lesson in commits_of(session, session, session)]
    assert lines == [
        "commit messages: `TYPE(SCOPE): …`, mostly `feat(…): …`, `fix(…): …`",
        "names of branches begin with what they are for: `feat/` (3 of 3)",
        "changes come in by pull requests: `gh pr create --base develop`",
    ]
    assert "secret" not in "".join(lines)


def test_how_pull_requests_are_made_and_merged_is_learned_from_their_switches() -> None:
    session = [
        ran("gh pr create -d \\\n  --title 'the --fill of it' --body-file x.md"),
        ran("gh pr merge 7 --squash -d"),
    ]
    (lesson,) = commits_of(session, session, session)
    assert describe_lesson(lesson) == (
        "changes come in by pull requests: `gh pr create --draft`; merged with `gh pr merge --squash --delete-branch`"
    )
    plain = [ran("gh pr create --title x"), ran("gh pr merge 8")]
    assert [describe_lesson(each) for each in commits_of(plain, plain)] == [
        "changes come in by pull requests: `gh pr create`"
    ]


def test_a_switch_of_pull_requests_is_usual_where_most_calls_of_two_sessions_have_it() -> None:
    """A person's one exception does not hide it; one session alone, or half of the calls, are no custom."""
    draft, ready = ran("gh pr create --draft --title x"), ran("gh pr create --title x")
    merged, kept = ran("gh pr merge 7 --rebase --delete-branch && git pull -f"), ran("gh pr merge 8 --rebase")

    def line(*sessions: list[Made]) -> str:
        return describe_lesson(commits_of(*sessions)[0]).removeprefix("changes come in by pull requests: ")

    assert line([draft, draft], [draft], [ready]) == "`gh pr create --draft`"
    assert line([draft, draft, draft], [ready]) == "`gh pr create`"
    assert (
        line([draft, merged], [draft, ready, ready], [merged, kept])
        == "`gh pr create`; merged with `gh pr merge --rebase`"
    )
    assert (
        line([ran("gh pr create -B next")] * 2, [ran("gh pr create --base=next")], [ready])
        == "`gh pr create --base next`"
    )
    assert line([ran("gh pr create -B next")], [ran("gh pr create -B main")]) == "`gh pr create`"


def test_branches_need_three_of_a_kind_in_two_sessions() -> None:
    session = [ran("git checkout -b feat/one"), ran("git switch -c fix/two")]
    lines = [describe_lesson(lesson) for lesson in commits_of(session, session)]
    assert lines == ["names of branches begin with what they are for: `feat/`, `fix/` (4 of 4)"]


def test_the_prefix_that_an_agent_gives_its_own_branches_is_no_convention() -> None:
    notes = collect_commits(seen([ran("git checkout -b task/one"), ran("git checkout -b task/two")]))
    own = [SessionCommits(f"task:s{n}", float(n), notes) for n in range(2)]
    assert learn_commit_forms("shop", own) == []
    named = collect_commits(seen([ran("git worktree add ../one --track -b fix/one"), ran("git switch -c fix/two")]))
    mixed = [*own, *(SessionCommits(f"tester:s{n}", float(n), named) for n in range(2))]
    assert [each.details["prefixes"] for each in learn_commit_forms("shop", mixed)] == ["fix/"]
    shared = [own[0], own[1]._replace(session="tester:s1")]
    assert [describe_lesson(each) for each in learn_commit_forms("shop", shared)] == [
        "names of branches begin with what they are for: `task/` (4 of 4)"
    ]


def test_the_name_of_a_person_before_a_branch_is_no_convention() -> None:
    session = [ran("git checkout -b someone/one"), ran("git switch -c someone/two")]
    assert commits_of(session, session) == []


def test_commits_that_a_hook_refused_are_counted() -> None:
    refused = ran(
        "git commit -m x",
        "husky - pre-commit script failed (code 1)",
        1,
        cause="finding",
        signature="husky - pre-commit script failed",
    )
    lines = [describe_lesson(lesson) for lesson in commits_of([refused, ran("git commit -m x")], [refused])]
    assert lines == ["a commit runs hooks that failed 2 of 3 times"]


def test_a_server_is_learned_with_its_port_and_what_shows_that_it_is_up() -> None:
    session = seen([ran("pnpm dev", "  VITE ready in 300 ms\n  Local: http://localhost:5173/")])
    (lesson,) = learn_servers("shop", [SessionServers(f"s{n}", find_servers(session)) for n in range(2)])
    assert (
        describe_lesson(lesson) == 'run: `pnpm dev`, port 5173, up when it prints "Local:" (2 of 2 ran, in 2 sessions)'
    )


def test_the_port_of_a_server_may_come_from_the_call_after_it() -> None:
    (start,) = find_servers(seen([ran("npm run start"), ran("curl -s http://localhost:8080/health")]))
    assert start.port == "8080"


def test_a_server_with_an_address_of_one_machine_is_not_learned() -> None:
    assert find_servers(seen([ran("DB_HOST=192.168.1.7 pnpm dev")])) == ()


def test_variables_that_two_sessions_missed_are_named_without_a_value() -> None:
    failed = ran(
        "bun test",
        "Error: Missing required environment variable CLICKHOUSE_URL",
        1,
        cause="environment",
        signature="Missing variable",
    )
    noted = [SessionVariables(f"s{n}", find_missing_variables(seen([failed]))) for n in range(2)]
    (lesson,) = learn_variables("shop", noted)
    assert describe_lesson(lesson) == "environment variables that must be set: `CLICKHOUSE_URL`"
    assert learn_variables("shop", noted[:1]) == []


def missing_in(*calls: Made) -> list[str]:
    return [each.name for each in find_missing_variables(seen(list(calls)))]


def stopped(command: str, message: str, cause: Cause = "environment") -> Made:
    return ran(command, message, 1, cause=cause, signature="failed")


NO_KEY = "Error: Missing required environment variable SHOP_KEY"


def test_a_variable_of_which_a_program_only_warns_is_not_needed() -> None:
    warned = (
        "\x1b[33m▲ [WARNING]\x1b[0m Missing required secrets: SHOP_KEY. Add them to .env\nError: EPERM: not permitted"
    )
    assert missing_in(stopped("pnpm test", warned)) == []
    assert missing_in(stopped("pnpm test", "17 | const key = env.SHOP_KEY ?? missing()\nError: expected 1")) == []


def test_a_variable_without_which_the_same_command_passes_later_is_not_needed() -> None:
    assert missing_in(stopped("pnpm test", NO_KEY), ran("pnpm test")) == []
    assert missing_in(stopped("pnpm test", NO_KEY), ran("pnpm lint")) == ["SHOP_KEY"]


def test_a_variable_that_a_later_call_set_and_passed_needs_one_session() -> None:
    noted = find_missing_variables(seen([stopped("pnpm test", NO_KEY, "finding"), ran("SHOP_KEY=1 pnpm test")]))
    assert [each.is_set for each in noted] == [True]
    (lesson,) = learn_variables("shop", [SessionVariables("s1", noted)])
    assert lesson.details["names"] == "SHOP_KEY"
    filled_in = used("Edit", "edit", {"file_path": "/w/shop/.env", "old_string": "a", "new_string": "b"})
    noted = find_missing_variables(seen([stopped("pnpm test", NO_KEY), filled_in, ran("pnpm test")]))
    assert [each.is_set for each in noted] == [True]
    assert (
        learn_variables("shop", [SessionVariables("s1", find_missing_variables(seen([stopped("pnpm test", NO_KEY)])))])
        == []
    )


def test_a_check_that_found_something_else_too_did_not_stop_for_want_of_a_variable() -> None:
    assert missing_in(stopped("pnpm test", f"{NO_KEY}\n3 failed", "finding")) == []


def missing_program(command: str, name: str) -> Made:
    message = f"zsh: command not found: {name}"
    return ran(command, message, 127, cause="environment", signature=message)


def line_of(lessons: Sequence[Lesson], topic: str) -> str:
    return next((describe_lesson(each) for each in lessons if each.topic == topic), "")


def test_what_is_used_instead_of_a_program_that_is_missing_is_learned() -> None:
    session = [missing_program("golangci-lint run", "golangci-lint"), ran("mise exec -- golangci-lint run ./...")]
    assert line_of(learned(session, session), "missing") == (
        "`golangci-lint` is not found by the shell here (2 times in 2 sessions); `mise exec -- golangci-lint` works"
    )


def test_a_program_with_the_same_arguments_is_a_replacement_and_a_search_is_none() -> None:
    first = [missing_program("python tools/gen.py --all", "python"), ran("python3 tools/gen.py --all")]
    assert line_of(learned(first), "missing").endswith("`python3` works")
    looked = [missing_program("jq . a.json", "jq"), ran("which jq"), ran("brew install jq"), ran("ls")]
    assert (
        line_of(learned(looked), "missing") == "`jq` is not there (not found once in 1 session)."
    )  # for a person; no call
    assert line_of(learned(looked, looked), "missing") == "`jq` is not there (not found 2 times in 2 sessions)."


def test_a_program_of_every_system_is_never_missing() -> None:
    lost = [missing_program("git log | head -3", "head"), ran("/usr/bin/head -3 a.txt")]
    assert line_of(learned(lost, lost), "missing") == ""


def test_a_package_before_the_dashes_is_not_the_program_that_is_started() -> None:
    session = [missing_program("hk install", "hk"), ran("mise x hk -- hk install")]
    assert line_of(learned(session), "missing").endswith("`mise exec hk -- hk` works")
    only = [missing_program("hk install", "hk"), ran("mise x hk")]
    assert "works" not in line_of(learned(only), "missing")


def test_a_program_that_is_there_later_is_not_missing() -> None:
    assert line_of(learned([missing_program("jq . a.json", "jq")], [ran("jq . a.json")]), "missing") == ""


def test_the_sources_of_generated_code_are_what_sessions_changed_before() -> None:
    sessions = [
        [
            used("Edit", "edit", {"file_path": f"/w/shop/schema/t{n}.graphql", "old_string": "a", "new_string": "b"}),
            ran("pnpm codegen"),
        ]
        for n in range(3)
    ]
    assert (
        line_of(learned(*sessions), "generate") == "after changes of `schema/*.graphql`: `pnpm codegen` (3 of 3 times)"
    )
    assert line_of(learned([ran("pnpm codegen")], [ran("pnpm codegen")]), "generate") == ""


def test_a_check_counts_its_passes_and_one_that_never_passed_is_weak() -> None:
    finds = ran("make test", "2 failed", 1, cause="finding", signature="2 failed")
    found = next(
        each for each in learned([finds, ran("make test")], [finds], [ran("make test")]) if each.topic == "test"
    )
    assert describe_lesson(found) == "test: `make test` (2 of 4 passed, in 3 sessions)"
    never = next(each for each in learned([finds], [finds], [finds]) if each.topic == "test")
    assert (never.status, never.why) == ("weak", "seen in no call that passed")


def test_a_failing_call_is_evidence_of_what_fails_and_says_so() -> None:
    fails = ran("rtk make test", "no such command", 1, cause="mistake", signature="no such command")
    found = next(each for each in learned(*[[fails, ran("make test")]] * 3) if each.topic == "test")
    assert {each.text: each.failed for each in found.evidence} == {"rtk make test": True, "make test": False}
    assert not any(each.against for each in found.evidence)


def test_a_shell_that_refuses_patterns_is_known_after_one_session() -> None:
    message = "(eval):1: no matches found: *.ts"
    refused = ran("grep -r x --include=*.ts .", message, 1, cause="mistake", signature=message)
    assert line_of(learned([refused]), "pattern").startswith(
        "the shell here is `zsh`: a `*` or `?` that matches no file fails"
    )
