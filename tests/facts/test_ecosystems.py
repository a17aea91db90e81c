"""What manifests imply in many languages: how a project is tested, built, linted and formatted where no script says so."""

import pytest

from tests.facts.test_facts import lines_of


@pytest.mark.parametrize(("files", "expected"), [
    ({"App/App.xcodeproj/project.pbxproj": "", "App/App.xcodeproj/xcshareddata/xcschemes/App.xcscheme": ""},
     ["build: `cd App && xcodebuild build -project App.xcodeproj -scheme App`"]),
    ({"gradlew": "", "app/build.gradle.kts": 'plugins { id("com.android.application") }\nktlint {}'},
     ["build: `./gradlew assembleDebug`", "one test: `./gradlew test --tests NAME`", "lint: `./gradlew ktlintCheck`"]),
    ({"pubspec.yaml": "dependencies:\n  flutter:\n    sdk: flutter\n"},
     ["test: `flutter test`", "one test file: `flutter test PATH`", "lint: `flutter analyze`"]),
    ({"requirements.txt": "pytest\n", "tests/test_cart.py": ""}, ["test: `pytest`", "one test: `pytest PATH::NAME`"]),
    ({"src/go.mod": "module x\n", "src/main_test.go": ""}, ["test: `cd src && go test ./...`"]),
    ({"Cargo.toml": "[workspace]\nmembers = ['a']\n", "a/Cargo.toml": "[package]\nname='a'\n"},
     ["test of one package: `cargo test -p PACKAGE`", "format: `cargo fmt`"]),
    ({"CMakeLists.txt": "project(x)\n"}, ["build: `cmake --build build`", "test: `ctest --test-dir build`"]),
    ({"artisan": "", "composer.json": '{"require-dev": {"laravel/pint": "1"}}'},
     ["test: `php artisan test`", "format: `vendor/bin/pint`"]),
    ({"package.json": '{"scripts": {"test": "vitest"}, "devDependencies": {"vitest": "1", "typescript": "5"}}', "yarn.lock": "",
      "tsconfig.json": "{}"},
     ["one test file: `yarn vitest run PATH`", "one test: `yarn vitest run PATH -t NAME`", "typecheck: `yarn tsc --noEmit`"]),
    ({"package.json": '{"scripts": {"test": "bun test src"}}', "bun.lock": ""}, ["one test file: `bun test PATH`"]),
    ({"deno.json": "{}"}, ["test: `deno test`", "lint: `deno lint`"]),
], ids=["xcode", "android", "flutter", "python", "go", "cargo", "cmake", "laravel", "vitest", "bun", "deno"])  # fmt: skip
def test_a_manifest_implies_its_checks(files: dict[str, str], expected: list[str]) -> None:
    lines = lines_of(files)
    assert [each for each in expected if each not in lines] == []
