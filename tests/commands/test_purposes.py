"""What one command is for, whatever starts it."""

import pytest

from preheat.commands import understand
from preheat.commands.programs import FAMILIES, FILTERS, PRINTERS, PROGRAMS, TASK_RUNNERS, TRIVIAL
from preheat.commands.values import CHECKS, Purpose
from preheat.commands.wrappers import WRAPPERS

PURPOSES: dict[Purpose, str] = {
    "test": """
        pytest -q tests
        python -m pytest tests/unit
        python3.11 -m unittest discover
        uv run --with httpx pytest
        uv run -m pytest -x
        uvx --from pytest pytest
        poetry run pytest
        pipenv run python -m pytest
        hatch run test
        hatch run dev:test
        conda run -n lab pytest
        coverage run -m pytest
        npm test
        npm t
        npm --prefix web test
        npm run test:unit -- --watch=false
        pnpm --filter api test
        pnpm exec vitest run
        yarn jest
        yarn test
        yarn workspace web test
        yarn cross-env NODE_ENV=test mocha x.js
        bun test
        bun run test
        npx -y jest@29 --ci
        npx --package vitest vitest
        npx playwright test
        npx cypress run
        node --test
        node node_modules/.bin/jest
        deno test
        cargo test --all
        cargo +nightly nextest run
        go test ./...
        dotnet test
        ./gradlew :app:testDebugUnitTest
        ./mvnw -q clean test
        mvn verify
        make test
        make -C build check
        just test
        task test
        mise run test:ci
        nox -s tests
        tox -e py311
        ctest --output-on-failure
        cmake --build build --target test
        bazel test //...
        bundle exec rspec
        bin/rails test
        rake spec
        ruby -Itest test/model_test.rb
        vendor/bin/phpunit
        php artisan test
        composer test
        mix test
        swift test
        zig test a.zig
        flutter test
        sbt "testOnly a.B"
        stack test
        python manage.py test app
        ./tests/runtests.py queries
        bash scripts/run_tests.sh
        python test_fix.py
        docker compose exec -T web pytest
        docker compose run --rm web python manage.py test
        docker exec -e A=b box pytest
        kubectl exec -n a pod -- pytest
        xvfb-run -a npm test
        direnv exec . pytest
        mise exec -- go test ./...
        sudo -u me env A=b nice -n 5 timeout -k 5 60 nohup stdbuf -oL time pytest
        A=b C="d e" pytest
        bash -lc "cd x && pytest"
        nx run-many -t test
        turbo run test
    """,
    "build": """
        make
        make -j8
        make main.o
        npm run build
        pnpm -r build
        tsc -b
        cargo build --release
        go build ./...
        cmake -S . -B build
        ninja -C out
        dotnet build
        docker build -t x .
        docker compose build
        ./gradlew assemble
        mvn package
        vite build
        npx next build
        python -m build
        python setup.py build_ext
        gcc -o a a.c
        cargo test --no-run
    """,
    "lint": """
        ruff check .
        ruff format --check .
        python -m flake8
        npx eslint src
        npm run lint:fix
        npm run format:check
        prettier --check .
        black --check .
        cargo clippy
        cargo fmt --check
        go vet ./...
        gofmt -l .
        golangci-lint run
        bundle exec rubocop
        bash -n x.sh
        node --check x.js
        pre-commit run -a
        make lint
        npm run check
        python -m py_compile a.py
    """,
    "typecheck": """
        mypy src
        npx tsc --noEmit
        tsc -p .
        npm run typecheck
        yarn type-check
        pyright
        cargo check
        vendor/bin/phpstan analyse
        deno check a.ts
    """,
    "format": """
        black .
        ruff format
        npx prettier --write .
        gofmt -w a.go
        cargo fmt
        npm run format
        isort .
    """,
    "search": """
        grep -rn x src
        rg x
        git grep x
        git -C a grep x
        find . -name x
        find . -exec grep x {} +
        fd x
        Select-String -Path a x
    """,
    "list": """
        ls -la
        tree
        wc -l a
        which git
        command -v git
        docker ps
        docker image ls
        pip list
        npm ls
        pytest --collect-only
        ps aux
        Get-ChildItem
        systemctl status x
        tar tf a.tar
    """,
    "read": """
        cat a
        head -5 a
        sed -n 1,5p a
        awk '{print $1}' a
        jq . a
        diff a b
        python -m json.tool a
        docker logs x
        pytest --version
        node -v
        cargo test --help
    """,
    "edit": """
        sed -i s/a/b/ x
        perl -pi -e s/a/b/ x
        echo a > b
        printf x >> b
        cat a > b
        echo x | sudo tee /etc/x
        mv a b
        rm -rf x
        mkdir -p x
        git apply x.patch
        find . -name x -delete
        find . -name x -exec rm {} +
        grep -l x . | xargs sed -i s/a/b/
        Set-Content a b
    """,
    "vcs": """
        git status
        git --no-pager diff
        gh pr view 5
        hg log
        jj st
        rtk git status
    """,
    "package": """
        pip install -r requirements.txt
        python -m pip install x
        uv pip install x
        uv add x
        uv sync
        npm i
        npm ci
        pnpm add x
        yarn
        yarn add x
        bun install
        cargo add x
        go get x
        go mod tidy
        apt-get install -y x
        sudo apt install x
        brew install x
        gem install x
        bundle install
        composer require x
        poetry add x
        npx playwright install
    """,
    "poll": """
        sleep 5
        tail -f log
        watch ls
        gh run watch 5
        gh pr checks 5 --watch
        docker logs -f x
        docker compose logs -f
        kubectl get pods -w
        kubectl rollout status deploy/x
        journalctl -u x -f
        sleep 5 && tail -5 log
        while ! curl -s localhost; do sleep 1; done
        until nc -z localhost 5432; do sleep 1; done
        for i in $(seq 9); do curl -f localhost && break; sleep 2; done
    """,
    "network": """
        curl -s localhost
        wget x
        ping -c 1 x
        ssh host ls
        curl -s x | jq .
        curl -s x | python3 -c 'import json'
    """,
    "run": """
        python app.py
        python -c 'print(1)'
        python - < x
        node x.js
        ./program --flag
        bash x.sh
        docker run image
        npm start
        npm run dev
        go run .
        cargo run
        python -m package.module
        uv run app.py
        make dev
    """,
    "other": """
        cd x
        echo hello
        true
        unheardof --flag
        $TOOL x
    """,
}


@pytest.mark.parametrize(
    ("text", "purpose"),
    [(line.strip(), purpose) for purpose, lines in PURPOSES.items() for line in lines.strip().splitlines()],
)
def test_each_command_has_its_purpose(text: str, purpose: Purpose) -> None:
    """Every form that agents and people write is known by what it is for, behind whatever starts it."""
    seen = understand(text)
    assert seen.purpose == purpose, seen
    assert seen.checks == (purpose in CHECKS)
    assert seen.complete


@pytest.mark.parametrize(
    ("text", "words", "wrappers"),
    [
        ("corepack pnpm run check", ("pnpm", "run", "check"), ("corepack",)),
        ("corepack enable", ("corepack", "enable"), ()),
        ("fnm exec --using=24 -- corepack pnpm test", ("pnpm", "test"), ("fnm", "corepack")),
        ("nvm exec 20 npm test", ("npm", "test"), ("nvm",)),
        ("nvm exec npm test", ("npm", "test"), ("nvm",)),
        ("A=b timeout -k 5 60 pytest -q", ("pytest", "-q"), ("timeout",)),
        ("/usr/bin/env -u X A=b python3 -m pytest", ("pytest",), ("env", "python3")),
        ("uv run --with a --python 3.12 -- ruff check", ("ruff", "check"), ("uv",)),
        ("npx -y eslint@9 src", ("eslint", "src"), ("npx",)),
        ("ls | xargs -n 1 -I{} grep x {}", ("grep", "x", "{}"), ("xargs",)),
        ("docker compose -f a.yml exec -u me web sh -c 'cd a && make'", ("make",), ("docker", "sh")),
        (r"C:\Tools\git.exe status", (r"C:\Tools\git.exe", "status"), ()),
        ("$x = git status", ("git", "status"), ()),
        ("bash <<'END'\ncd a\nmake\nEND", ("make",), ("bash",)),
    ],
)
def test_wrappers_are_removed_from_commands(text: str, words: tuple[str, ...], wrappers: tuple[str, ...]) -> None:
    """What only starts a command is taken away, its options and their values with it, and named in order."""
    command = understand(text).commands[-1]
    assert (command.words, command.wrappers) == (words, wrappers)


def test_tables_hold_only_program_names() -> None:
    """The tables hold names only: no blanks, no path, and the filters and printers are all known programs or wrappers."""
    for name in (*PROGRAMS, *FAMILIES, *WRAPPERS, *TRIVIAL, *FILTERS, *PRINTERS, *TASK_RUNNERS):
        assert name == name.strip()
        assert name
        assert "/" not in name
    known = {*PROGRAMS, *FAMILIES, *TRIVIAL}
    assert not PRINTERS - known
