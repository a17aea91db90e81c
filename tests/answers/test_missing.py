"""Which file was meant by a path at which there is nothing."""

import pytest
from msgspec import structs

from preheat.answers import Failure, answer_failure, warn_before
from preheat.answers.missing import find_meant
from tests.answers.tree import ROOT, MemoryTree, reading, shell

TREE = MemoryTree(
    {
        "README.md": "",
        "mise.toml": "",
        "src/shop/cart.py": "",
        "src/shop/orders/index.ts": "",
        "src/shop/users/index.ts": "",
        "src/shop/Checkout.tsx": "",
        "src/legacy/invoice.py": "",
        "migrations/0042_add.sql": "",
        "tests/unit/test_cart.py": "",
        "tests/unit/test_orders.py": "",
    }
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("src/cart.py", "src/shop/cart.py"),  # the same name elsewhere
        ("/home/other/clone/src/shop/cart.py", "src/shop/cart.py"),  # another root
        ("shop/src/shop/cart.py", "src/shop/cart.py"),  # a folder too many
        ("src/shop/checkout.tsx", "src/shop/Checkout.tsx"),  # another case
        ("src/shop/cart.pyi", "src/shop/cart.py"),  # another ending
        (".mise.toml", "mise.toml"),  # a dot before it
        ("src/shp/cart.py", "src/shop/cart.py"),  # a folder of close spelling
        ("src/shop/user/index.ts", "src/shop/users/index.ts"),  # a common name: the folders decide
        ("tests/unit/test_order.py", "tests/unit/test_orders.py"),  # close spelling
        ("src/shop/invoice.py", "src/legacy/invoice.py"),  # moved
    ],
)
def test_the_file_that_was_meant_is_found(typed: str, meant: str) -> None:
    path = typed if typed.startswith("/") else f"{ROOT}/{typed}"
    assert find_meant(path, TREE, ROOT) == (f"{ROOT}/{meant}",)


@pytest.mark.parametrize(
    ("typed", "there"),
    [
        ("src/review.test.ts", "src/review.ts"),  # a file has no test
        ("src/review_test.go", "src/review.go"),
        ("src/review.go", "src/review_test.go"),
        ("src/review_late_test.go", "src/review_test.go"),  # another test
        (".github/publish-head.yml", ".github/publish.yml"),  # a name with a word more
    ],
)
def test_of_a_test_its_source_is_not_meant_nor_of_a_longer_name_the_shorter(typed: str, there: str) -> None:
    tree = MemoryTree({there: ""})
    assert find_meant(f"{ROOT}/{typed}", tree, ROOT) == ()
    assert warn_before(reading(f"{ROOT}/{typed}"), tree) is None


PACKAGES = MemoryTree(
    {
        "Cargo.toml": "",
        "src/main.rs": "",
        "src/config/settings.rs": "",
        "crates/ui/Cargo.toml": "",
        "crates/ui/src/schema.rs": "",
        "crates/ui/src/settings.rs": "",
        "crates/ui/src/retry_policy.rs": "",
        "crates/ui/src/retry_test.rs": "",
    }
)


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("src/settings.rs", "src/config/settings.rs"),  # of the same package, of two
        ("src/schema.rs", ""),  # a name that any package may have
        ("src/retry_policy.rs", "crates/ui/src/retry_policy.rs"),  # the only one of a name of its own
        ("src/retry_test.rs", ""),  # a test of what is there
        ("crates/core/Cargo.toml", ""),  # each package has its own
        ("ui/Cargo.toml", "crates/ui/Cargo.toml"),
    ],
)
def test_where_its_folder_is_there_a_file_of_another_package_is_not_meant(typed: str, meant: str) -> None:
    assert find_meant(f"{ROOT}/{typed}", PACKAGES, ROOT) == ((f"{ROOT}/{meant}",) if meant else ())


def test_a_whole_path_is_answered_from_the_folder_of_the_project_wherever_the_shell_stands() -> None:
    tree = MemoryTree({"app/app/models/cart.py": "", "app/app/README.md": ""})
    call = structs.replace(reading(f"{ROOT}/app/models/cart.py"), folder=f"{ROOT}/app")
    found = warn_before(call, tree)
    assert found is not None
    assert found.text == "Nothing is at this call's path; `app/app/models/cart.py` exists."


def test_a_path_that_climbs_out_of_the_project_or_has_lost_a_part_is_not_written() -> None:
    missing = "cat: mise.toml: No such file or directory"
    assert answer_failure(Failure(shell("cat mise.toml", "/tmp/elsewhere"), missing), TREE) is None
    assert warn_before(shell("ls -la src/REDACTED"), MemoryTree({"src/REDACTED.py": ""})) is None
    deep = "Zyqq/Wvxx/Ptrr/Gnnk/Brrf/Dwwl"
    found = warn_before(reading(f"{ROOT}/old/cart_total.py"), MemoryTree({f"{deep}/cart_total.py": ""}))
    assert found is None


@pytest.mark.parametrize("typed", ["src/nothing_like_it.py", "migrations/0043_add.sql", "lib/index.ts", "a"])
def test_nothing_is_named_where_nothing_is_sure(typed: str) -> None:
    assert find_meant(f"{ROOT}/{typed}", TREE, ROOT) == ()


def test_several_equal_ones_are_named_together_and_many_not_at_all() -> None:
    few = MemoryTree({f"{name}/util.py": "" for name in ("a", "b")})
    many = MemoryTree({f"{name}/util.py": "" for name in "abcdef"})
    assert find_meant(f"{ROOT}/x/util.py", few, ROOT) == (f"{ROOT}/a/util.py", f"{ROOT}/b/util.py")
    assert find_meant(f"{ROOT}/x/util.py", many, ROOT) == ()


def test_a_read_of_a_missing_file_is_warned_of_and_answered() -> None:
    call = reading(f"{ROOT}/src/cart.py")
    warning, answer = warn_before(call, TREE), answer_failure(Failure(call, "File does not exist."), TREE)
    assert warning is not None
    assert answer is not None
    assert warning.text == answer.text == "Nothing is at this call's path; `src/shop/cart.py` exists."


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("cat src/cart.py", "cat: src/cart.py: No such file or directory"),
        ("rg foo src/cart.py", "rg: src/cart.py: No such file or directory (os error 2)"),
        ("cd src && cat cart.py", "cat: cart.py: No such file or directory"),
        ("cd src/cart.py", "bash: cd: src/cart.py: No such file or directory"),
        ("cd src/cart.py", "cd: no such file or directory: src/cart.py"),
        ("ls src/cart.py", "ls: cannot access 'src/cart.py': No such file or directory"),
        ("python src/cart.py", "python: can't open file '/work/shop/src/cart.py': [Errno 2] No such file or directory"),
        ("git add src/cart.py", "fatal: pathspec 'src/cart.py' did not match any files"),
    ],
)
def test_the_messages_of_programs_are_understood(command: str, message: str) -> None:
    answer = answer_failure(Failure(shell(command), message), TREE)
    if "can't open" in message:
        assert answer is None  # the path of the message is not one that was typed
        return
    assert answer is not None
    assert answer.remedies == (f"{ROOT}/src/shop/cart.py",)


def test_a_path_that_is_there_by_now_gets_no_answer() -> None:
    assert answer_failure(Failure(shell("cat README.md"), "cat: README.md: No such file or directory"), TREE) is None


def test_a_path_that_the_command_does_not_name_gets_no_answer() -> None:
    message = "Error: ENOENT: no such file or directory, open 'src/other/thing.json'"
    assert answer_failure(Failure(shell("npm run build"), message), TREE) is None
