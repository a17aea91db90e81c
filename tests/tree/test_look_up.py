"""What an index says about a prompt: files by words, paths, names, symbols, history and tests."""

import pytest

from preheat.model.tree import TreeEvidence
from preheat.tree.index import TreeIndex

from .conftest import Project, needs_git


@pytest.fixture
def shop(project: Project) -> Project:
    """A small shop."""
    project.write("src/cart.py", "class Cart:\n    def add_item(self, item):\n        self.total += item.price\n")
    project.write("src/checkout.py", "def collect_payment(cart):\n    return gateway.charge(cart.total)\n")
    project.write("src/parsers/config.py", "def parse_config(path):\n    return read(path)\n")
    project.write("web/app.ts", "export function renderHeader(title: string) {\n  return title;\n}\n")
    project.write(
        "docs/payments.md", "# Payments\n\nHow the gateway charges a card.\n\n## Refunds\n\nA refund takes a day.\n"
    )
    project.write("docs/登录.md", "# 登录页面\n\n登录页面的错误处理\n")
    project.write("tests/test_cart.py", "from src.cart import Cart\n")
    project.write("tests/test_orders.py", "from src.checkout import collect_payment\n")
    for number in range(30):
        project.write(f"other/note{number}.py", f"value_{number} = 'some unrelated words about the weather'\n")
    project.update()
    return project


def best(found: dict[str, object], measure: str) -> str:
    return max(found, key=lambda path: (getattr(found[path], measure), path))


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("the gateway charges twice when we collect the payment", "src/checkout.py"),
        ("total of the items in the cart", "src/cart.py"),
        ("how long does a refund take?", "docs/payments.md"),
        ("修复登录页面", "docs/登录.md"),
        ("rendering headers", "web/app.ts"),
    ],
)
def test_the_words_of_a_prompt_find_the_file_that_is_about_them(shop: Project, prompt: str, path: str) -> None:
    assert best({**shop.look_up(prompt)}, "content_score") == path


def test_words_are_found_in_paths_and_said(shop: Project) -> None:
    found = shop.look_up("the parsers are slow")
    assert best({**found}, "path_score") == "src/parsers/config.py"
    assert found["src/parsers/config.py"].words == ("parsers",)


@pytest.mark.parametrize(
    ("prompt", "path", "named_by"),
    [
        ("look at src/cart.py", "src/cart.py", "path"),
        ("look at ./src/cart.py:12 please", "src/cart.py", "path"),
        ("in `parsers/config.py`", "src/parsers/config.py", "suffix"),
        ("config.py is wrong", "src/parsers/config.py", "name"),
        ("see /elsewhere/project/src/cart.py.", "src/cart.py", "suffix"),
        ("see src\\cart.py", "src/cart.py", "path"),
        ("does `checkout` work?", "src/checkout.py", "stem"),
        ("@web/app.ts", "web/app.ts", "path"),
    ],
)
def test_files_that_a_prompt_names_are_known_by_how_it_does(
    shop: Project, prompt: str, path: str, named_by: str
) -> None:
    named = {each.path: each.named_by for each in shop.look_up(prompt).values() if each.named_by}
    assert named == {path: named_by}


def test_an_absolute_path_in_the_root_is_the_path(shop: Project) -> None:
    assert shop.look_up(f"fix {shop.index.root}/src/cart.py")["src/cart.py"].named_by == "path"


def test_a_mention_of_another_folder_is_no_mention(shop: Project) -> None:
    assert not any(each.named_by for each in shop.look_up("lib/cart.py is not ours").values())


def test_symbols_are_found_by_name_and_by_words(shop: Project) -> None:
    exact = shop.look_up("rename `parse_config`")["src/parsers/config.py"].symbols[0]
    assert (exact.symbol.name, exact.symbol.first_line, exact.symbol.last_line) == ("parse_config", 1, 2)
    assert (exact.is_exact, exact.rarity) == (True, 1.0)
    in_words = shop.look_up("parsing of the configs fails")["src/parsers/config.py"].symbols[0]
    assert (in_words.symbol.name, in_words.is_exact) == ("parse_config", False)
    heading = shop.look_up("describe refunds")["docs/payments.md"].symbols[0].symbol
    assert (heading.name, heading.kind, heading.first_line, heading.last_line) == ("Refunds", "heading", 5, 7)


def test_tests_cover_files_by_their_name_and_by_what_they_import(shop: Project) -> None:
    assert shop.index.tests_of("src/cart.py") == ["tests/test_cart.py"]
    assert shop.index.tests_of("src/checkout.py") == ["tests/test_orders.py"]
    assert shop.index.tests_of("web/app.ts") == []
    assert shop.look_up("total of the cart")["src/cart.py"].tests == ("tests/test_cart.py",)


def test_files_are_found_by_name_in_any_case(shop: Project) -> None:
    assert [file.path for file in shop.index.find_by_name("CONFIG.py")] == ["src/parsers/config.py"]
    assert shop.index.find_by_name("nothing.py") == []
    assert shop.index.exists("src/cart.py")
    assert not shop.index.exists("src/nothing.py")
    (shop.root / "src" / "cart.py").unlink()
    assert not shop.index.exists("src/cart.py"), "the folder itself is asked"


@needs_git
def test_files_that_change_together_and_lately_are_known(shop: Project) -> None:
    shop.commit(at=1_750_000_000)
    for number in range(3):
        shop.write("src/cart.py", f"# {number}\n")
        shop.write("docs/payments.md", f"# {number}\n")
        shop.commit(at=1_750_000_000 + (number + 1) * 86400)
    shop.update()
    found = shop.look_up("go on", "src/cart.py")
    assert found["docs/payments.md"].changed_with == 3
    assert (found["src/cart.py"].commits, found["src/cart.py"].changed_with) == (3, 0)


@needs_git
def test_titles_of_commits_that_are_like_a_prompt_bring_in_their_files(shop: Project) -> None:
    """A file whose contents and path have no word of the prompt is found by what its commit was for; addresses say nothing."""
    shop.commit(at=1_750_000_000)
    shop.write("src/cart.py", "# 1\n")
    shop.commit(at=1_750_086_400, message="Throttle noisy partners, https://example.com/zebra/1")
    shop.write("docs/payments.md", "# 2\n")
    shop.commit(at=1_750_172_800, message="Describe zebras")
    shop.update()
    found = shop.look_up("throttling of partners")
    assert found["src/cart.py"].title_score > 0 == found["docs/payments.md"].title_score
    assert shop.look_up("zebra")["src/cart.py"].title_score == 0


def test_what_a_program_put_before_a_prompt_and_addresses_are_not_looked_for(shop: Project) -> None:
    found = shop.look_up("<note>collect_payment</note> look at https://example.com/collect_payment and parse_config")
    assert found["src/parsers/config.py"].symbols
    assert "src/checkout.py" not in found or not found["src/checkout.py"].symbols


@pytest.mark.parametrize(
    "prompt",
    ["", "x", "go", "  \n", "the", "\0\ud800", "字" * 5000, "cart " * 40_000, "a/" * 50_000, "(" * 10_000, "`" * 9999],
)
def test_any_prompt_gets_an_answer_of_bounded_size(shop: Project, prompt: str) -> None:
    assert len(shop.index.look_up(prompt).files) <= 250


def test_a_long_prompt_is_read_at_both_ends(shop: Project) -> None:
    filler = "nothing of interest\n" * 10_000
    found = shop.look_up(f"collect_payment {filler} parse_config")
    assert {"src/checkout.py", "src/parsers/config.py"} <= set(found)


def test_without_an_index_every_answer_is_empty(project: Project) -> None:
    assert project.index.look_up("cart") == TreeEvidence()
    assert project.index.tests_of("a.py") == []
    assert project.index.symbols("a.py") == []
    assert project.index.find_file("a.py") is None


def test_the_same_question_gets_the_same_answer(shop: Project) -> None:
    prompt = "the gateway charges twice, see src/cart.py and parse_config"
    with TreeIndex.open(str(shop.home), str(shop.root)) as other:
        assert other.look_up(prompt) == shop.index.look_up(prompt) == shop.index.look_up(prompt)
