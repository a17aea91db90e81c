"""Files that a project's configuration calls tests: only at those it is said how one of them is run."""

import pytest

from preheat.facts import derive_facts, wanted_files
from preheat.facts.globs import read_pattern
from preheat.facts.join import join_facts
from preheat.facts.runner_settings import find_test_patterns
from tests.facts.test_change_choice import line_for
from tests.facts.test_facts import lesson, tree_of

PACKAGE = '{"scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "1"}}'
VITEST = """import { defineConfig } from "vitest/config";
export default defineConfig({
  test: {
    // include: ["nothing"],
    include: ["src/**/*.test.ts", 'ui/tests/**/*.spec.tsx'],
    coverage: { include: ["src/**"], reporter: ["text"] },
    server: { deps: { inline: ["react"] } },
  },
  optimizeDeps: { include: ["react"] },
});
"""


def test_how_one_test_file_is_run_is_said_only_at_what_is_a_test() -> None:
    tree = tree_of({"package.json": PACKAGE, "pnpm-lock.yaml": "", "vitest.config.ts": VITEST})
    typed = lesson("test", "npx vitest run PATH", sessions=4, details={"about": "one test file"})
    for lessons, said in (([], "pnpm exec vitest run PATH"), ([typed], "npx vitest run PATH")):
        facts = join_facts(lessons, derive_facts(tree), tree)
        assert said in line_for(facts, "src/cart.test.ts")
        assert said in line_for(facts, "ui/tests/cart.spec.tsx")
        assert "PATH" not in line_for(facts, "ui/tests/cart.test.tsx")
        assert said in line_for(facts, "src/cart.ts")  # beside the test of the whole


@pytest.mark.parametrize(("name", "text", "patterns"), [
    ("vitest.config.ts", VITEST, ("src/**/*.test.ts", "ui/tests/**/*.spec.tsx")),
    ("vite.config.mts", "export default { test: { include: ['./a/*.test.ts'] } }", ("a/*.test.ts",)),
    ("vitest.config.ts", "export default { test: { include: [...defaults, 'a'] } }", ()),
    ("vitest.config.ts", "export default { test: { include: tests } }", ()),
    ("vitest.config.ts", "export default { test: { include: [`${here}/*.ts`] } }", ()),
    ("vitest.config.ts", "export default { test: { projects: ['a'], include: ['a/*.test.ts'] } }", ()),
    ("vitest.config.ts", "export default { root: 'ui', test: { include: ['a/*.test.ts'] } }", ()),
    ("vitest.config.ts", "export default mergeConfig(base, { test: { include: ['a/*.test.ts'] } })", ()),
    ("vitest.config.ts", "export default { optimizeDeps: { include: ['react'] }, test: { globals: true } }", ()),
    ("vitest.config.ts", "export default { test: {", ()),
])  # fmt: skip
def test_a_list_of_plain_words_names_what_are_tests(name: str, text: str, patterns: tuple[str, ...]) -> None:
    assert find_test_patterns(tree_of({name: text}), "vitest", "") == patterns


@pytest.mark.parametrize(("name", "text", "patterns"), [
    ("jest.config.js", "module.exports = { testMatch: ['<rootDir>/test/**/*.test.js'] }", ("web/test/**/*.test.js",)),
    ("jest.config.js", "module.exports = { roots: ['lib'], testMatch: ['**/*.test.js'] }", ()),
    ("jest.config.js", "module.exports = { testMatch: ['!**/e2e/**', '**/*.js'] }", ()),
    ("package.json", '{"jest": {"testMatch": ["**/*.spec.js"]}}', ("web/**/*.spec.js",)),
    ("package.json", '{"jest": {"testMatch": "**/*.spec.js"}}', ()),
    ("package.json", '{"jest": {"rootDir": "x", "testMatch": ["**/*.spec.js"]}}', ()),
    ("package.json", "{", ()),
])  # fmt: skip
def test_the_settings_of_jest_are_read_where_they_stand(name: str, text: str, patterns: tuple[str, ...]) -> None:
    assert find_test_patterns(tree_of({f"web/{name}": text}), "jest", "web") == patterns


@pytest.mark.parametrize(("pattern", "path", "is_matched"), [
    ("src/**/*.test.ts", "src/cart.test.ts", True), ("src/**/*.test.ts", "src/a/b/cart.test.ts", True),
    ("src/**/*.test.ts", "lib/src/cart.test.ts", False), ("src/*.test.ts", "src/a/cart.test.ts", False),
    ("**/*.{test,spec}.{ts,tsx}", "a/cart.spec.tsx", True), ("**/?(*.)+(spec|test).[jt]s?(x)", "a/cart.spec.js", True),
    ("**/*.test.?(c|m)[jt]s?(x)", "cart.test.mts", True), ("**/*.test.?(c|m)[jt]s?(x)", "cart.test.py", False),
])  # fmt: skip
def test_a_pattern_matches_as_its_program_says(pattern: str, path: str, is_matched: bool) -> None:
    expression = read_pattern(pattern)
    assert expression is not None
    assert bool(expression.fullmatch(path)) is is_matched


@pytest.mark.parametrize("pattern", ["src/!(a|b)/*.ts", "[z-a].ts", "*(a*)*(b*)x", "*a*b*c*d*e*f", "**/" * 9])
def test_a_pattern_that_we_do_not_know_or_that_is_slow_says_nothing(pattern: str) -> None:
    assert read_pattern(pattern) is None


def test_the_files_that_say_so_are_read() -> None:
    assert len(wanted_files(["vitest.config.ts", "jest.config.js", "src/cart.ts"])) == 2


@pytest.mark.parametrize(("text", "expected"), [
    ("export default defineConfig({ testDir: './e2e', use: {} })", ("e2e/**/*",)),
    ("export default { testDir: 'tests/browser' }", ("tests/browser/**/*",)),
    ("export default { projects: [{ testDir: 'a' }, { testDir: 'b' }] }", ()),
    ("export default { testDir: folder }", ()),
    ("// testDir: 'a'\nexport default {}", ()),
])  # fmt: skip
def test_playwright_looks_at_the_folder_of_its_configuration(text: str, expected: tuple[str, ...]) -> None:
    tree = tree_of({"package.json": PACKAGE, "playwright.config.ts": text})
    assert find_test_patterns(tree, "playwright", "") == expected
