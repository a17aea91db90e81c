"""What each program, and each subcommand of a program, is for; which programs are only steps on the way. Knows no shell
syntax."""

from typing import NamedTuple

from preheat.commands.values import Purpose
from preheat.commands.words import name_set


def build_table(**purposes: str) -> dict[str, Purpose]:
    return {name: purpose for purpose, names in purposes.items() for name in names.split()}  # type: ignore[misc]


PROGRAMS: dict[str, Purpose] = build_table(
    test=(
        "pytest py.test unittest nose nosetests nose2 trial doctest tox nox testr stestr behave robot ward green jest vitest"
        " mocha ava jasmine karma tap tape qunit wtr cypress testcafe c8 nyc uvu ctest gotestsum ginkgo richgo rspec minitest"
        " cucumber phpunit pest paratest codecept behat bats shellspec busted prove xctest locust k6 hurl"
        " newman pa11y test-storybook coverage runtests.py mutmut stryker cargo-nextest tarpaulin"
    ),
    build=(
        "gcc g++ cc c++ clang clang++ ld ar javac scalac kotlinc rustc ghc gfortran nasm protoc ninja samu meson scons esbuild"
        " webpack rollup parcel tsup swc tsdown ng-packagr sphinx-build mkdocs pyinstaller cython nuitka wasm-pack"
        " msbuild xbuild devenv xcodebuild electron-builder hugo jekyll pdflatex xelatex lualatex latexmk tectonic "
        " maturin hatchling flit cmake configure autoconf automake autoreconf build goreleaser emcc emmake typst buf ant"
    ),
    lint=(
        "eslint eslint_d tslint jshint jscs standard xo oxlint biome stylelint markdownlint markdownlint-cli markdownlint-cli2"
        " htmlhint jsonlint yamllint ansible-lint actionlint hadolint shellcheck flake8 pylint pyflakes pycodestyle pydocstyle"
        " bandit vulture prospector pylama ruff golangci-lint staticcheck golint revive errcheck rubocop standardrb reek"
        " brakeman phpcs phpmd swiftlint ktlint detekt checkstyle spotbugs clang-tidy cppcheck cpplint credo hlint luacheck"
        " selene tflint tfsec checkov semgrep codespell cspell vale commitlint pre-commit lefthook depcheck knip madge"
        " dependency-cruiser publint attw syncpack sqlfluff buildifier djlint lychee deptry import-linter lint-imports"
        " py_compile compileall gosec govulncheck trivy gitleaks spectral redocly"
    ),
    typecheck=(
        "tsc vue-tsc tsgo tsd mypy dmypy pyright basedpyright pyre pytype ty pyrefly flow phpstan psalm sorbet srb steep"
        " dialyzer svelte-check ember-tsc"
    ),
    format=(
        "prettier black isort autopep8 yapf autoflake pyupgrade gofmt goimports gofumpt rustfmt clang-format shfmt stylua"
        " dprint google-java-format ktfmt swiftformat swift-format php-cs-fixer pint nixfmt alejandra taplo sql-formatter"
        " pyproject-fmt djhtml ormolu fourmolu cmake-format "
    ),
    search="grep egrep fgrep zgrep rg rga ag ack ugrep find fd fdfind locate mdfind fzf ast-grep sg findstr select-string sls",
    list=(
        "ls ll la dir tree eza exa lsd du df stat file wc pwd which whereis whatis type realpath readlink basename dirname"
        " printenv env id whoami hostname uname uptime date ps top htop free lsof netstat ss pgrep pidof jobs lscpu lsblk"
        " nproc vmstat iostat arch sw_vers tty locale getent groups cloc tokei scc command test [ [[ (( hash ver systeminfo"
        " tasklist get-childitem gci get-item gi get-location get-process gps test-path resolve-path get-command gcm"
        " measure-object get-itemproperty get-service get-ciminstance get-wmiobject where ipconfig ifconfig sysctl mount ulimit"
        " get-module get-date get-nettcpconnection get-acl cygpath wslpath fc-list nvidia-smi launchctl"
    ),
    read=(
        "cat head tail less more bat batcat nl tac od xxd hexdump strings jq yq awk gawk mawk cut sort uniq column fold comm"
        " paste join diff cmp colordiff delta sdiff vimdiff zcat bzcat xzcat gzcat rev tr fmt expand xmllint tidy base64"
        " md5sum sha1sum sha256sum shasum cksum b2sum man info tldr help json.tool zipinfo nm objdump otool ldd readelf"
        " sqlite3 plutil defaults pdftotext exiftool identify ffprobe mediainfo glow mdcat csvlook xsv dasel gron htmlq pup"
        " get-content gc get-help get-filehash compare-object convertfrom-json convertto-json format-table format-list"
        " select-object where-object foreach-object sort-object group-object ft fl select out-string out-host write-output"
        " journalctl dmesg openssl sed history pydoc pydoc3 tomlq hexyl "
    ),
    edit=(
        "mv cp rm mkdir rmdir touch chmod chown chgrp ln tee patch truncate install rsync tar zip unzip gzip gunzip xz bzip2 7z"
        " zstd dd shred unlink mktemp mkfifo rename ed ex vi vim nvim nano emacs dos2unix unix2dos split csplit sponge"
        " apply_patch applypatch ditto trash trash-put del erase copy move xcopy robocopy ren md rd mklink set-content"
        " add-content out-file remove-item ri new-item ni copy-item cpi move-item mi rename-item rni clear-content"
        " expand-archive compress-archive export-csv set-itemproperty str_replace jscodeshift comby fastmod sd envsubst "
    ),
    vcs=(
        "git gh glab hub hg svn jj cvs bzr fossil darcs p4 tig lazygit gitk git-lfs git-filter-repo arc sl graphite gt"
        " git-cliff tea hut "
    ),
    package=(
        "pip pip3 pipx ensurepip easy_install conda mamba micromamba apt apt-get aptitude dpkg yum dnf rpm pacman yay"
        " apk zypper brew port choco scoop winget gem nvm fnm volta n asdf rustup sdk nodenv ncu npm-check-updates rtx"
        " snap flatpak nix-env nix-channel venv virtualenv corepack cpan cpanm luarocks opam bower jspm vcpkg conan pod carthage"
        " install-module install-package ghcup pyenv rbenv mise syft guix"
    ),
    poll="sleep watch wait wait-on wait-for-it wait-for-it.sh inotifywait fswatch start-sleep usleep watchman entr",
    network=(
        "curl wget http https httpie xh ping ping6 traceroute tracert mtr dig nslookup host whois nc ncat netcat telnet ssh scp"
        " sftp ftp aria2c grpcurl websocat wscat invoke-webrequest iwr invoke-restmethod irm rclone s3cmd lynx w3m"
        " test-netconnection tnc nmap ab wrk hey vegeta autocannon start-bitstransfer yt-dlp gallery-dl"
    ),
    run=(
        "python python2 python3 pypy pypy3 py node nodejs ts-node tsx jiti ruby irb perl php java lua luajit R Rscript"
        " julia bash sh zsh dash ksh fish ash powershell pwsh cmd docker docker-compose podman kubectl helm terraform tofu pulumi"
        " nodemon pm2 forever concurrently uvicorn gunicorn flask streamlit celery django-admin rails http-server serve"
        " http.server live-server psql mysql mongosh mongo redis-cli cscript wscript osascript expect ipython jupyter ansible"
        " ansible-playbook vagrant open xdg-open start start-process supervisord systemctl service"
        " gdb lldb valgrind perf hyperfine timeit cProfile pdb wine qemu-system-x86_64 adb fastboot idb xcrun simctl az aws"
        " gcloud gsutil fly flyctl vercel netlify wrangler heroku firebase supabase serverless sam cdk ffmpeg convert"
        " magick kill pkill killall taskkill stop-process kubectx minikube kind k3d skaffold tilt prisma drizzle-kit knex alembic"
        " sequelize typeorm liquibase flyway createdb dropdb pg_dump pg_restore initdb pg_ctl tmux screen nextflow"
        " iex ghci scala kotlin clojure clj racket guile sbcl erl escript groovy crystal nim idris agda coqtop ocaml"
        " act invoke-expression invoke-command invoke-pester eval tauri expo next nuxt astro remix gatsby ng vue"
    ),
)
"""Programs whose purpose does not depend on a subcommand, or the purpose without a subcommand."""

TRIVIAL = name_set(
    "cd pushd popd echo printf true false : exit return export set unset shopt declare local readonly typeset alias unalias"
    " source . break continue shift trap umask let read getopts clear reset write-host write-output seq yes set-location "
    " setlocal endlocal rem title cls enable disable bg fg disown ulimit setx set-executionpolicy set-variable test [ [[ (("
    " mktemp basename dirname realpath date hash"
)
"""Commands that prepare or announce; a text is never mainly for one of these when it has any other."""

PRINTERS = name_set(
    "echo printf cat sed awk gawk mawk head tail tr sort cut uniq jq yq envsubst base64 tac nl paste column seq yes perl xxd"
    " write-output get-content"
)
"""Programs that only give out text: with their output in a file, they write that file."""

FILTERS = name_set(
    "head tail grep egrep fgrep rg ag ack sed awk gawk mawk sort uniq wc cut tr tee cat tac nl less more bat column fold jq yq"
    " xxd od paste fmt rev strings json.tool select-object select where-object foreach-object sort-object group-object"
    " measure-object out-string out-null out-host out-file tee-object format-table format-list ft fl select-string sls findstr"
    " convertfrom-json convertto-json ts pv sponge perl python python3 node ruby xmllint base64 delta colordiff column expand"
    " ansi2txt diff comm join shuf numfmt"
)
"""Programs that in a pipe only show or sieve what came before them."""

_NODE_PACKAGE = (
    "install i add remove rm uninstall un update up upgrade ci dedupe link unlink outdated audit init create publish pack"
    " prune rebuild cache store import fetch view info ls list why explain fund dedup patch version login whoami config set"
    " get bin root ping search owner dist-tag deprecate autoclean plugin plugins workspaces licenses pm global"
)
NODE_LIST = name_set("ls list ll view info why explain outdated whoami bin root ping search get licenses fund help")
NODE_RUNNERS = frozenset(("npm", "pnpm", "yarn", "bun", "vp"))
NODE_PACKAGE = name_set(_NODE_PACKAGE)
NODE_VALUED = name_set(
    "--prefix -C --dir --cwd -w --workspace --filter -F --registry --loglevel --config --filter-prod --elide-lines"
)

TASK_RUNNERS = name_set(
    "make gmake just task rake mage inv invoke poe doit grunt gulp turbo nx lerna moon wireit rush ant mvn mvnw gradle gradlew"
    " earthly ninja mask cake psake bake nuke sage xtask remake"
)
"""Programs whose words are names of tasks."""
TASK_VALUED = name_set(
    "-C -f --file --makefile --directory -I --justfile -d --dir -t --taskfile -j --filter --projects -p --project -pl -P"
    " --build-file -b -c --configuration --scope --concurrency --profile --target --base --head -l --output-style --cwd"
)
TASK_NAMES: dict[str, Purpose] = build_table(
    test="check verify integration-test surefire:test failsafe:integration-test",
    build="package compile install assemble classes test-compile process-resources jar bootJar war shadowJar deploy",
    edit="clean distclean mrproper",
    lint="checkstyle:check spotless:check spotlessCheck ktlintCheck detekt",
    format="spotless:apply spotlessApply ktlintFormat",
    list="help tasks dependency:tree dependencies projects graph show --list",
)
"""Names of tasks that mean something else to `make`, Maven and Gradle than their words say."""


# Programs with subcommands, and what each subcommand is for
class Family(NamedTuple):
    """A program with subcommands."""

    valued: frozenset[str]
    """Options before the subcommand whose value is the next word."""
    subcommands: dict[str, Purpose]
    otherwise: Purpose


def _family(otherwise: Purpose, valued: str = "", **purposes: str) -> Family:
    return Family(frozenset(valued.split()), build_table(**purposes), otherwise)


FAMILIES: dict[str, Family] = {
    "git": _family("vcs", "-C -c --git-dir --work-tree --namespace --exec-path", search="grep", edit="apply"),
    "gh": _family("vcs", "-R --repo", search="search"),
    "cargo": _family(
        "run", "--manifest-path --config -Z --color -C",
        test="test t nextest tarpaulin llvm-cov bench miri mutants hack",
        build="build b rustc doc d rustdoc zigbuild ndk leptos", typecheck="check c",
        lint="clippy deny audit machete udeps semver-checks", format="fmt fix",
        package=(
            "add remove rm install uninstall update fetch vendor publish package search binstall"
            " generate-lockfile"
        ),
        list="tree metadata locate-project version pkgid expand", edit="clean new init",
    ),
    "go": _family(
        "run", "-C", test="test", build="build install generate", lint="vet", format="fmt fix",
        package="get mod work", run="run tool", list="list env version doc", edit="clean",
    ),
    "deno": _family(
        "run", test="test bench", typecheck="check", lint="lint", format="fmt", build="compile bundle",
        package="install add remove cache update outdated", list="info doc",
    ),
    "dotnet": _family(
        "run", test="test vstest", build="build msbuild publish pack rebuild", format="format",
        package="restore add remove tool nuget workload", list="list sdk", edit="new clean sln",
    ),
    "swift": _family("run", "--package-path", test="test", build="build", format="format", package="package"),
    "zig": _family(
        "run", test="test", build="build build-exe build-lib build-obj cc c++", format="fmt", package="fetch",
        lint="ast-check",
    ),
    "mix": _family(
        "run", test="test", build="compile release", lint="credo", typecheck="dialyzer", format="format",
        package="deps.get deps.update deps.compile deps hex.info local.hex",
    ),
    "dart": _family("run", test="test", build="compile", lint="analyze fix", format="format", package="pub"),
    "flutter": _family(
        "run", test="test drive", build="build", lint="analyze", format="format", package="pub upgrade",
        list="doctor devices",
    ),
    "sbt": _family(
        "run", test="test testOnly testQuick", build="compile package assembly publishLocal",
        lint="scalafmtCheck scalafixAll", format="scalafmt scalafmtAll", package="update",
    ),
    "lein": _family("run", test="test midje", build="compile uberjar jar", lint="eastwood kibit", package="deps"),
    "stack": _family(
        "run", "--stack-yaml --resolver", test="test", build="build install", package="setup update",
        run="exec run ghci",
    ),
    "cabal": _family(
        "run", test="test", build="build v2-build new-build", package="install update", lint="check",
        run="exec run repl",
    ),
    "dune": _family("run", test="test runtest", build="build", format="fmt promote"),
    "bazel": _family("run", test="test coverage", build="build", search="query cquery aquery", edit="clean"),
    "bazelisk": _family("run", test="test coverage", build="build", search="query cquery aquery"),
    "buck2": _family("run", test="test", build="build", search="query cquery uquery"),
    "pants": _family("run", test="test", build="package", lint="lint", typecheck="check", format="fmt"),
    "forge": _family(
        "run", test="test coverage snapshot", build="build compile", format="fmt", package="install update",
        run="script create",
    ),
    "hardhat": _family("run", test="test coverage", build="compile"),
    "anchor": _family("run", test="test", build="build"),
    "rails": _family("run", test="test spec test:system", package="bundle", edit="generate g destroy new"),
    "bundle": _family("package", package="install update add", lint="audit", list="show list info"),
    "composer": _family(
        "run", "-d --working-dir",
        package="install require update remove dump-autoload show outdated why init global create-project i u r",
        lint="validate audit",
    ),
    "artisan": _family("run", test="test dusk", edit="make:model make:controller"),
    "manage.py": _family("run", test="test", lint="check", edit="startapp"),
    "django": _family("run", test="test", lint="check", edit="startapp startproject"),
    "django-admin": _family("run", test="test", lint="check", edit="startapp startproject"),
    "uv": _family(
        "package", "--directory --project -C", build="build", run="run", format="format", list="tree version cache",
    ),
    "poetry": _family(
        "package", "-C --directory -P --project", build="build", lint="check", list="show env about", run="run",
    ),
    "pipenv": _family("package", run="run shell", lint="check verify", list="graph"),
    "pdm": _family("package", "-p --project", build="build", run="run", list="list info"),
    "rye": _family(
        "package", test="test", build="build", lint="lint check", format="fmt format", run="run", list="list show",
    ),
    "hatch": _family(
        "run", "-e --env -p --project", test="test", build="build", format="fmt", lint="check", package="dep env",
    ),
    "pixi": _family(
        "package", "--manifest-path", run="run shell", build="build", list="list info tree", search="search",
    ),
    "ruff": _family("lint", "--config", lint="check", format="format", read="rule config linter", edit="clean"),
    "biome": _family("lint", lint="check lint ci", format="format"),
    "playwright": _family("run", test="test", package="install install-deps"),
    "cypress": _family("run", test="run", package="install", run="open"),
    "vite": _family("run", build="build", run="dev serve preview"),
    "next": _family("run", build="build", lint="lint", run="dev start", typecheck="typegen"),
    "nuxt": _family("run", build="build generate prepare", typecheck="typecheck"),
    "astro": _family("run", build="build", typecheck="check sync", package="add"),
    "ng": _family("run", test="test t e2e", build="build b", lint="lint", package="add update", edit="generate g new"),
    "expo": _family("run", build="export prebuild", lint="lint", package="install"),
    "tauri": _family("run", build="build", run="dev"),
    "prisma": _family("run", build="generate", lint="validate", format="format"),
    "buf": _family("build", lint="lint breaking", format="format", build="build generate"),
    "terraform": _family(
        "run", "-chdir", lint="validate", format="fmt", package="init get", list="show output state", test="test",
    ),
    "tofu": _family(
        "run", "-chdir", lint="validate", format="fmt", package="init get", list="show output state", test="test",
    ),
    "helm": _family(
        "run", "-n --namespace --kube-context", lint="lint", package="repo dependency dep pull",
        list="list ls status get show history", test="test",
    ),
    "docker": _family(
        "run", "-H --host --context -c --config -l", build="build buildx",
        list="ps images inspect info version stats top port history diff search", read="logs", package="pull",
        edit="rm rmi", poll="wait",
    ),
    "docker-compose": _family(
        "run", "-f --file -p --project-name --profile --env-file", build="build",
        list="ps images config top ls port version", read="logs", package="pull", edit="rm",
    ),
    "kubectl": _family(
        "run", "-n --namespace --context --kubeconfig",
        list="get describe top version config cluster-info explain api-resources", read="logs", poll="wait",
    ),
    "systemctl": _family(
        "run", list="status is-active is-enabled is-failed list-units list-unit-files list-timers show cat",
    ),
    "launchctl": _family("run", list="list print"),
    "node": _family("run", "-r --require --import --loader --env-file --conditions -C --experimental-loader"),
    "apt": _family("package", list="list show policy", search="search"),
    "brew": _family("package", list="list info outdated services deps", search="search"),
    "pip": _family("package", "--python", list="list show freeze index"),
    "pip3": _family("package", "--python", list="list show freeze index"),
    "mise": _family("package", list="tasks ls list current where which doctor", other="use activate trust shell"),
    "nvm": _family("package", list="ls list current which ls-remote", other="use alias"),
    "fnm": _family("package", list="list current", other="use env"),
    "pyenv": _family("package", list="versions version which", other="local shell global activate"),
    "rbenv": _family("package", list="versions version which", other="local shell global init"),
    "conda": _family("package", other="activate deactivate", list="list info env", search="search"),
    "pre-commit": _family("lint", package="install autoupdate install-hooks", lint="run"),
    "jupyter": _family("run", build="nbconvert"),
    "dvc": _family("vcs", run="repro exp"),
    "meson": _family("build", test="test"),
    "xcodebuild": _family(
        "build", "-scheme -destination -workspace -project -configuration -sdk -derivedDataPath -target -testPlan",
        test="test test-without-building", list="-list -showsdks",
    ),
    "wasm-pack": _family("build", test="test"),
    "maturin": _family("build", package="develop"),
    "coverage": _family("test", read="report html xml json annotate", edit="erase combine"),
    "aws": _family("network", "--profile --region --output"),
    "az": _family("network"),
    "gcloud": _family("network"),
}  # fmt: skip
FAMILIES |= dict.fromkeys(
    ("apt-get", "aptitude", "dnf", "yum", "winget", "choco", "scoop", "gem", "nix-env", "apk", "pacman", "snap"),
    FAMILIES["apt"],
)
FAMILIES["devbox"] = FAMILIES["mise"]
FAMILIES |= dict.fromkeys(("podman", "nerdctl"), FAMILIES["docker"])
