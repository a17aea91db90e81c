"""The endings of the files that a program works on. Pure."""

SCRIPTS = "js jsx ts tsx mjs cjs mts cts"
WEB = f"{SCRIPTS} vue svelte astro"
_TOOLS: dict[str, str] = {
    "cargo rustfmt clippy": "rs",
    "go gofmt gofumpt golangci-lint goimports gotestsum staticcheck gci golines govulncheck": "go",
    "pytest ruff black mypy pyright flake8 isort pylint tox nox ty basedpyright pyrefly pyupgrade autoflake bandit vulture"
    " unittest compileall": "py pyi",
    "vitest jest tsc eslint mocha ava tsup playwright cypress node vite astro next vue-tsc svelte-check tsgo knip": WEB,
    "prettier dprint": f"{WEB} css scss json md mdx html yaml yml graphql",
    "biome oxlint oxfmt": f"{SCRIPTS} css scss json jsonc graphql html",
    "renovate-config-validator": "json json5",
    "stylelint": "css scss less",
    "markdownlint markdownlint-cli2 mdformat": "md mdx",
    "actionlint yamllint zizmor": "yaml yml",
    "taplo tombi": "toml",
    "flutter dart": "dart",
    "swift swiftlint swiftformat xcodebuild": "swift m mm",
    "rubocop rspec standardrb": "rb",
    "phpunit pint phpstan pest php": "php",
    "shellcheck shfmt bats": "sh bash bats",
    "fish": "fish",
    "stylua luacheck selene": "lua",
    "mvn gradle ./gradlew gradlew ktlint detekt": "java kt kts groovy scala",
    "dotnet": "cs fs vb",
    "mix": "ex exs",
}
"""By tools, the endings of the files that they work on."""
LANGUAGES = {tool: frozenset(endings.split()) for tools, endings in _TOOLS.items() for tool in tools.split()}
CODE = frozenset().union(*LANGUAGES.values())
"""The endings of which it is known who works on them."""
