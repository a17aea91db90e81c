"""What starts programs here, which shell runs the calls, and repairs that other subcommands say nothing about."""

import pytest

from preheat.lessons.learner import SessionNotes
from preheat.lessons.occurrences import reach
from preheat.lessons.occurrences import take_notes as note_occurrences
from preheat.lessons.starters import find_starters
from preheat.live.mistake import find_hint_before_command, index_lessons
from preheat.model.lesson import Lesson, Scope, Support
from preheat.provisioning.lesson_text import describe_lesson
from tests.lessons.sessions import ran, seen
from tests.lessons.test_conventions import about, fails, learned


def lines(lessons: list[Lesson], topic: str) -> list[str]:
    return [describe_lesson(each) for each in about(lessons, topic) if each.details]


def test_a_program_that_only_ever_ran_by_another_is_told_with_it() -> None:
    session = [ran("npx vercel deploy"), ran("npx vercel deploy --prod")]
    assert lines(learned(session, session), "missing") == [
        "`vercel` never ran by itself here; `npx vercel` did (4 times, in 2 sessions)"
    ]


def test_a_program_that_once_ran_by_itself_needs_nothing_to_start_it() -> None:
    session = [ran("npx vercel deploy")] * 3
    assert lines(learned(session, session, [ran("vercel deploy")]), "missing") == []


def test_a_package_manager_that_nearly_always_ran_by_another_is_told_with_it() -> None:
    session = [ran("corepack pnpm run lint")] * 8
    found = learned(session, [*session, ran("pnpm --version")])
    assert lines(found, "missing") == ["`pnpm` is started as `corepack pnpm` here (16 of 17 calls, in 2 sessions)"]
    assert lines(learned(session, [*session, *[ran("pnpm run lint")] * 3]), "missing") == []
    assert not [
        each
        for each in learned(session, [ran("fnm exec --using=24 -- corepack pnpm test")] * 5)
        if "`corepack`" in each.text
    ]
    vercel = [ran("npx vercel deploy")] * 8
    assert lines(learned(vercel, [*vercel, ran("vercel deploy")]), "missing") == []  # no package manager


@pytest.mark.parametrize(
    ("command", "started"),
    [
        ("corepack pnpm run check", ["corepack pnpm"]),
        ("corepack enable", []),
        ("fnm exec --using=24 -- corepack yarn test", ["fnm exec --using=24 -- corepack",
                                                         "fnm exec --using=24 -- corepack yarn"]),
        ("direnv exec . make test", ["direnv exec . make"]),
        ("nix develop -c cargo test", ["nix develop -c cargo"]),
        ("nix build", []),
        ("doppler run -- npm start", ["doppler run -- npm"]),
        ("docker compose exec -T web pytest -q", ["docker compose exec -T web pytest"]),
        ("docker compose exec", []),
        ("npx --yes vercel@latest deploy", ["npx --yes vercel@latest"]),
    ],
)  # fmt: skip
def test_every_program_that_a_command_starts_by_another_is_found(command: str, started: list[str]) -> None:
    assert [starter for _, starter in find_starters(command)] == started


def test_a_script_that_a_package_runs_is_no_program() -> None:
    assert lines(learned(*[[ran("pnpm run deploy"), ran("npm run deploy")]] * 4), "missing") == []


def test_python_under_its_name_with_a_number_is_told_where_the_other_never_ran() -> None:
    script = [ran("python3 - <<'PY'\nprint(1)\nPY")] * 2
    found = lines(learned(script, script), "missing")
    assert found == ["`python` never ran by itself here; `python3` did (4 times, in 2 sessions)"]
    assert lines(learned(script, script, [ran("python x.py")]), "missing") == []


@pytest.mark.parametrize(
    ("found", "use"),
    [
        ('export PATH="/usr/local/go/bin:/usr/bin:$PATH" && go test ./...', "export PATH=/usr/local/go/bin:$PATH"),
        ("PATH=$PATH:~/go/bin go test ./...", "export PATH=~/go/bin:$PATH"),
        ("/usr/local/go/bin/go test ./...", "/usr/local/go/bin/go"),
    ],
)
def test_a_program_that_some_shells_do_not_find_is_told_with_its_place(found: str, use: str) -> None:
    """Shells that find it say nothing against the place; a place of one machine, and one session alone, say nothing at all."""
    lost = [fails("go test ./...", "zsh:1: command not found: go"), ran(found)]
    finds = [ran("go test ./...")] * 4
    assert lines(learned(lost, lost, finds, finds, finds), "missing") == [
        f"`go` is not found by the shell here (2 times in 2 sessions); `{use}` works"
    ]
    assert lines(learned(lost, finds, finds), "missing") == []
    private = [lost[0], ran("/srv/mine/go/bin/go test ./...")]
    assert lines(learned(private, private, finds, finds, finds), "missing") == []


def test_a_word_in_backticks_that_the_shell_took_for_a_program_is_none() -> None:
    lost = [fails('rg "the `audience` option" src', "zsh:1: command not found: audience")]
    assert about(learned(lost, lost), "missing") == []


def test_what_manages_versions_of_a_program_does_not_replace_it() -> None:
    lost = [fails("python x.py", "zsh:1: command not found: python"), ran("uv python list")]
    assert [each.use for each in about(learned(lost, lost), "missing")] == [""]


def test_a_shell_that_any_message_betrays_is_known_before_a_pattern_fails() -> None:
    found = learned([fails("foo bar", "(eval):1: command not found: foo")])
    assert lines(found, "pattern") == [
        "the shell here is `zsh`: a `*` or `?` that matches no file fails; in quotes it does not"
    ]


def test_another_shell_and_a_message_that_only_quotes_one_teach_no_pattern() -> None:
    assert lines(learned([fails("foo", "bash: line 1: foo: command not found")]), "pattern") == []
    assert lines(learned([ran("cat notes", "zsh:1: command not found: foo")]), "pattern") == []


def repair(**fields: object) -> Lesson:
    values: dict[str, object] = {
        "id": "r1", "kind": "repair", "scope": Scope(project="shop"), "topic": "shell", "use": "cart status",
        "avoid": "cart status --no-pager", "text": "without it `cart status` works", "error": "Usage",
        "difference": "without `--no-pager`",
        "signatures": ("Usage",), "forms": ("cart status",), "support": Support(4, 4), "score": 0.8,
    }  # fmt: skip
    return Lesson(**(values | fields))  # type: ignore[arg-type]


def test_an_option_that_is_refused_is_warned_of_wherever_it_stands() -> None:
    known = index_lessons([repair()], 0.0)
    assert find_hint_before_command(known, "cart status --json --no-pager") is not None
    assert find_hint_before_command(known, "cart list --no-pager") is None  # of another subcommand nothing is known
    assert find_hint_before_command(known, "cart status --json") is None


def occurred(*sessions: list[str]) -> list[SessionNotes[object]]:
    return [
        SessionNotes(
            f"s{n}", "tester", "shop", float(n), None, note_occurrences(seen([ran(each) for each in commands]))
        )
        for n, commands in enumerate(sessions)
    ]


def test_a_repair_is_as_likely_as_its_mistake_where_that_is_rare() -> None:
    never = occurred(*[["cart status"]] * 12)
    often = occurred(*[["cart status --no-pager", "cart status"]] * 12)
    assert (reach(repair(), never) or 0.0) < 0.1  # type: ignore[arg-type]
    assert (reach(repair(), often) or 0.0) > 0.8  # type: ignore[arg-type]
