"""Which lessons are worth a line in a project's instructions file."""

from preheat.model.lesson import Lesson, Scope, Support
from preheat.provisioning.proposal import Proposal, propose


def lesson(name: str, **fields: object) -> Lesson:
    values: dict[str, object] = {
        "id": name, "kind": "convention", "scope": Scope(project="shop"), "topic": "test", "text": f"`{name}`", "use": name,
        "details": {"about": "test"}, "support": Support(9, 3),
    } | fields  # fmt: skip
    return Lesson(**values)  # type: ignore[arg-type]


def propose_for(*lessons: Lesson, before: str = "") -> Proposal:
    return propose(
        before, lessons, (), project="shop", approved=frozenset(), now=0.0, days={}, topics=("build", "test")
    )


def texts(*lessons: Lesson) -> list[str]:
    return [each.text for each in propose_for(*lessons).lines]


def test_of_several_commands_for_one_purpose_the_most_used_is_proposed_and_topics_keep_their_order() -> None:
    few = lesson("make test-all", support=Support(2, 2))
    many = lesson("make test")
    build = lesson("make build", topic="build", details={"about": "build"}, support=Support(2, 2))
    assert texts(few, many, build) == ["Build: `make build`", "Test: `make test`"]


def test_a_check_that_hardly_ever_passes_is_not_recommended() -> None:
    assert texts(lesson("make test", details={"about": "test", "passed": "1"}, support=Support(15, 13))) == []
    assert texts(lesson("make test", details={"about": "test", "passed": "7"}, support=Support(15, 13))) != []


def test_how_an_agent_uses_its_own_tools_and_what_one_shell_lacks_are_not_for_the_file() -> None:
    own = lesson(
        "r1", kind="repair", topic="edit", scope=Scope(project="shop", tool="Edit"), details={}, use="", avoid="Edit",
        error="File has not been read yet", difference="after reading the file",
    )  # fmt: skip
    missing = lesson("x", topic="missing", details={"about": "missing", "name": "astro"}, use="npx astro")
    glob = lesson("y", topic="pattern", details={"about": "pattern"}, use="")
    assert texts(own, missing, glob) == []


def test_a_command_of_one_session_is_proposed_only_if_the_tree_calls_it_the_main_one() -> None:
    once = Support(4, 1)
    assert texts(lesson("make test", support=once)) == []
    assert texts(lesson("make test", support=once, details={"about": "test", "main": "1"})) == ["Test: `make test`"]
    other = {"about": "lint of one package", "main": "1"}
    assert texts(lesson("pnpm --filter PACKAGE lint", topic="lint", support=once, details=other)) == []


def test_a_wish_of_a_person_is_not_said_beside_the_line_that_has_its_command() -> None:
    wish = lesson("make test", id="w", topic="correction", details={})
    assert texts(lesson("make test"), wish) == ["Test: `make test`"]
    assert texts(wish) == ["A person asked for `make test`"]


def test_the_package_runner_is_not_said_beside_a_line_that_uses_it() -> None:
    runner = lesson("r", topic="runner", details={"name": "pnpm", "file": "pnpm-lock.yaml"}, use="")
    assert texts(lesson("pnpm test"), runner) == ["Test: `pnpm test`"]
    assert len(texts(lesson("make test"), runner)) == 2


def test_no_line_counts_sessions_that_it_does_not_know() -> None:
    pull = lesson("gh pr create", topic="pull_request", details={"about": "pull request", "base": "develop"})
    assert texts(pull) == ["Changes come in by pull requests: `gh pr create --base develop`"]


def test_what_everybody_does_or_was_only_run_is_not_for_the_file() -> None:
    pull = lesson("gh pr create", topic="pull_request", details={"about": "pull request", "base": "main"})
    vague = lesson("make demo", topic="other", details={})
    tool = lesson(
        "t", kind="dead_end", topic="tool", details={}, use="", avoid="Skill skill=commit", error="Unknown skill"
    )
    assert texts(pull, vague, tool) == []


def test_what_a_person_pinned_is_proposed_whatever_its_support() -> None:
    assert texts(lesson("make odd", support=Support(1, 1), pinned=True)) == ["Test: `make odd`"]


def test_the_projects_own_script_goes_before_a_more_used_command_and_the_whole_before_its_packages() -> None:
    used = lesson("gofmt -w PATH.go", topic="build", details={"about": "build"}, support=Support(78, 7))
    own = lesson(
        "mise run fmt",
        topic="build",
        details={"about": "build", "main": "yes"},
        support=Support(),
        files=("mise.toml",),
    )
    part = lesson(
        "pnpm --filter api build", topic="build", details={"about": "build", "package": "api"}, support=Support(20, 9)
    )
    assert texts(part, used, own) == ["Build: `mise run fmt`", "Build of `api`: `pnpm --filter api build`"]


def test_set_up_is_that_of_the_root_and_not_of_a_package() -> None:
    root, part = (
        lesson(use, topic="setup", details={"about": "setup"}, support=Support(), reach=0.3)
        for use in ("pnpm install", "cd api && npm install")
    )
    (line,) = texts(part, root)
    assert line.endswith("`pnpm install`")


def test_where_a_person_has_said_how_nothing_else_is_proposed_for_the_same() -> None:
    person = lesson("mise run lint", topic="lint", details={}, author="person", text="lint: use `mise run lint`")
    learned = lesson("golangci-lint run", topic="lint", details={"about": "lint"})
    one = lesson("make one", topic="lint", details={"about": "lint", "package": "api"}, support=Support(9, 4))
    lines = texts(learned, person, one)
    assert not any("golangci-lint" in line for line in lines)
    assert any("`mise run lint`" in line for line in lines)
    assert any("`make one`" in line for line in lines)


def test_a_line_without_runs_says_which_file_it_was_read_from() -> None:
    details = {"about": "test", "main": "yes"}
    tree = lesson("make test", details=details, support=Support(), files=("Makefile",))
    both = lesson("make test", details=details, support=Support(4, 2), files=("Makefile",))
    assert [each.evidence for each in propose_for(tree).lines] == ["read from `Makefile`"]
    assert [each.evidence for each in propose_for(both).lines] == ["read from `Makefile`; 4 of 4 calls in 2 sessions"]


def test_commands_without_a_purpose_and_options_of_system_programs_are_not_proposed() -> None:
    assert texts(lesson("go run ./cmd/probe --stats PATH", topic="other", details={})) == []
    refused = lesson(
        "cat -vet", kind="repair", topic="shell", details={}, avoid="cat -A", error="cat: illegal option -- A"
    )
    assert texts(refused) == []


def test_a_line_on_a_hook_does_not_count_its_failures() -> None:
    hook = lesson(
        "", id="h", topic="hook", files=(".husky/pre-commit",),
        details={"about": "commit", "commands": "pnpm lint", "failed": "5", "all": "34", "duration": "27 s"},
    )  # fmt: skip
    assert texts(hook) == ["A commit runs `pnpm lint` (`.husky/pre-commit`), takes about 27 s"]


def test_a_line_on_pull_requests_does_not_count_them() -> None:
    details = {"about": "pull request", "merge": "gh pr merge --squash", "good": "47", "all": "60"}
    pull = lesson("gh pr create", topic="pull_request", details=details)
    assert texts(pull) == ["Changes come in by pull requests: `gh pr create`; merged with `gh pr merge --squash`"]


def test_one_package_is_not_named_beside_the_line_for_any_package() -> None:
    """`pnpm --filter api test` follows from `pnpm --filter PACKAGE test`; another way of it does not."""
    some = lesson("pnpm --filter PACKAGE test", details={"about": "test of one package", "main": "yes"})
    api = lesson("pnpm --filter @shop/api test", details={"about": "test", "package": "api"}, support=Support(9, 5))
    web = lesson("cd web && npm test", details={"about": "test", "package": "web"}, support=Support(9, 5))
    assert texts(api) == ["Test of `api`: `pnpm --filter @shop/api test`"]
    assert texts(some, api, web) == [
        "Test of one package: `pnpm --filter PACKAGE test`",
        "Test: `cd web && npm test`",
    ]


def test_where_a_program_lies_on_one_machine_is_not_for_the_file() -> None:
    """Others have it elsewhere, and where the shell finds it no line is needed. A path in the project is for everybody."""
    repair = lesson("", id="r", kind="repair", topic="shell", details={}, error="command not found: go", avoid="go build ./x",
                    difference="with `/opt/go/bin/go` instead of `go`", use="/opt/go/bin/go build ./x")  # fmt: skip
    home = lesson("cd ~/shop && make test")
    assert texts(repair, home) == []
    assert texts(lesson("./scripts/test.sh")) == ["Test: `./scripts/test.sh`"]


def test_what_starts_the_programs_of_packages_everywhere_is_not_for_the_file() -> None:
    """Whoever works with packages of Node knows `npx`; that `mise` brings the tools here is news."""
    details = {"about": "tools", "names": "eslint,tsc"}
    known = lesson("npx NAME", topic="missing", details={**details, "manager": "npx"}, files=("package.json",))
    news = lesson("mise exec -- NAME", topic="missing", details={**details, "manager": "mise"}, files=("mise.toml",))
    assert texts(known) == []
    assert len(texts(known, news)) == 1


def test_of_several_commands_for_one_purpose_in_one_folder_one_is_proposed() -> None:
    used = lesson("cd api && go build ./cmd/shop", topic="build", details={"about": "build", "package": "api"},
                  support=Support(29, 9))  # fmt: skip
    other = lesson("cd api && GOOS=linux go build -o shop ./cmd/shop", topic="build", details={},
                   support=Support(5, 2))  # fmt: skip
    assert texts(other, used) == ["Build: `cd api && go build ./cmd/shop`"]


def test_a_line_has_how_long_a_check_takes_and_not_what_an_agent_asked_of_its_tool() -> None:
    slow = lesson("make test", details={"about": "test", "duration": "90 s", "timeout": "5 min"})
    assert texts(slow) == ["Test: `make test`, takes about 90 s"]


def test_names_of_branches_are_proposed_without_their_count() -> None:
    names = lesson("", id="b", topic="branch", support=Support(13, 10),
                   details={"about": "branch", "prefixes": "docs/,fix/", "good": "13", "all": "14"})  # fmt: skip
    assert texts(names) == ["Names of branches begin with what they are for: `docs/`, `fix/`"]
