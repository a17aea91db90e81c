"""A test is known by its name or folder, and covers the files that its name or its imports mean."""

import pytest

from preheat.tree.coverage import does_import, is_test, read_imports, subject_of


@pytest.mark.parametrize(
    ("path", "subject"),
    [
        ("tests/test_engine.py", "engine"), ("engine_test.go", "engine"), ("src/engine.test.ts", "engine"),
        ("src/engine.spec.tsx", "engine"), ("spec/engine_spec.rb", "engine"), ("EngineTest.java", "engine"),
        ("EngineTests.cs", "engine"), ("TestEngine.java", "engine"), ("src/__tests__/engine.js", "engine"),
    ],
)  # fmt: skip
def test_a_test_is_known_by_its_path_and_says_its_subject(path: str, subject: str) -> None:
    assert is_test(path)
    assert subject_of(path) == subject


@pytest.mark.parametrize(
    "path", ["src/latest.py", "contest.go", "src/attest.ts", "docs/test.md", "tests/data.json", "inspect.py"]
)
def test_other_files_are_no_tests(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    ("test", "text", "covered", "other"),
    [
        ("tests/test_a.py", "from shop.cart import Cart\n", "src/shop/cart.py", "src/shop/order.py"),
        ("tests/test_a.py", "from shop import cart, order\n", "src/shop/order.py", "src/shop/cart_view.py"),
        ("tests/test_a.py", "import shop.cart\n", "shop/cart.py", "cart/shop.py"),
        ("pkg/tests/test_a.py", "from ..cart import x\n", "pkg/cart.py", "pkg/tests/cart_x.py"),
        ("src/a.test.ts", "import { x } from './cart'\n", "src/cart.ts", "lib/cart.ts"),
        ("src/a.test.ts", "const x = require('../lib/cart.js')\n", "lib/cart.js", "src/cart.ts"),
        ("a/a_test.go", 'import (\n\t"github.com/x/shop/cart"\n)\n', "shop/cart/add.go", "shop/order/add.go"),
        ("tests/a.rs", "use shop::cart::Cart;\n", "shop/cart.rs", "shop/order.rs"),
        ("src/test/java/ATest.java", "import com.shop.Cart;\n", "src/main/java/com/shop/Cart.java", "com/shop/Order.java"),
        ("tests/a.c", '#include "shop/cart.h"\n', "shop/cart.h", "shop/order.h"),
        ("spec/a_spec.rb", "require_relative '../lib/cart'\n", "lib/cart.rb", "lib/order.rb"),
    ],
)  # fmt: skip
def test_an_import_means_one_file_and_not_its_neighbour(test: str, text: str, covered: str, other: str) -> None:
    imports = read_imports(test, text)
    assert any(does_import(name, covered) for name in imports)
    assert not any(does_import(name, other) for name in imports)
