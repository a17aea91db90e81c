"""What a prompt asks for, by its words: topics of facts, that a branch or a pull request is made. Pure; knows no fact.

A topic counts where a sentence asks for it to be run, mended, written or done, not where it is only spoken of. People write in
their own language and by many words: English words are listed whole; of other languages the beginnings of words, or parts of them
where words are not set apart.
"""

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

from preheat.commands.words import name_set
from preheat.prompt_text import own_words

_WORD = re.compile(r"[^\W\d_][^\W_]+")
_LONG = 800
_BEGINNING, _END = 250, 200
"""Characters of a long prompt in which its aim stands: a plan mentions everything."""
_MOST_READ = 20_000
_PATH = re.compile(r"\S*(?:[/\\@]|\.\w{1,5}\b)\S*")
"""Words of a path or of an address say where something is, not what is to be done."""
_PASTED = re.compile(r"^[ \t]*[\u2500-\u257f\u25a0-\u25cf\u23bf].*$", re.MULTILINE)
"""Lines that were copied from a terminal."""
_QUOTED = re.compile(r"\"[^\"\n]{3,200}\"|“[^”\n]{3,200}”|«[^»\n]{3,200}»")
"""Words that are to stand somewhere, or that somebody else said."""
_MARKED = re.compile(r"<(?P<tag>[a-z][\w-]{1,40})(?:\s[^<>\n]{1,400})?>.*?</(?P=tag)>", re.DOTALL)
"""What a program puts around a prompt is not what the person asks."""
_TOPIC_WORDS: dict[str, str] = {
    "test": "test tests testing tested tester unittest unittests e2e coverage regression regressions tdd testcase"
    " testcases pytest vitest jest mocha cypress playwright rspec teste testes testen getestet testet prueba pruebas prova",
    "lint": "lint linter linting linted lints eslint biome ruff clippy golangci stylelint pylint rubocop shellcheck",
    "typecheck": "typecheck typechecks typechecking tsc mypy pyright typing typings",
    "build": "build builds compile compiles compilation bundle kompilieren kompiliert compilar compila",
    "format": "format formatting formatter reformat prettier gofmt rustfmt fmt",
    "check": "checks ci pipeline",
    "serve": "localhost",
    "generate": "regenerate codegen typegen openapi proto protobuf graphql stubs",
    "hook": "push pushed",
    "branch": "branch branches pr prs worktree zweig rama",
    "pull_request": "pr prs",
    "release": "changelog changeset pr prs",
}
_TOPICS_BY_WORD: dict[str, frozenset[str]] = {}
for _topic, _words in _TOPIC_WORDS.items():
    for _each in _words.split():
        _TOPICS_BY_WORD[_each] = _TOPICS_BY_WORD.get(_each, frozenset()) | {_topic}
_TOPIC_STEMS: dict[str, str] = {
    "test": "prueb тест протест 测试 測試 テスト 테스트",
    "lint": "линт",
    "build": "сборк собер 构建 编译 ビルド 빌드",
    "format": "formatier форматир 格式化 フォーマット",
    "generate": "regener сгенерир 生成",
    "hook": "коммит закоммит 提交 コミット 커밋",
    "commit": "коммит закоммит commite comite 提交 コミット 커밋",
    "branch": "ветк 分支 ブランチ 브랜치",
    "release": "релиз 发布 リリース 릴리스",
}
"""By topic, beginnings of words in other languages."""
_ANY_STEMS = " ".join(_TOPIC_STEMS.values())
_ONE_REQUEST = 400
"""Characters of a prompt that is about one thing."""
_AT_THE_END = frozenset(["test", "lint", "typecheck", "build", "format", "check", "serve", "generate", "deploy"])
"""What a longer prompt asks for on its way or at its end: that is said when it changes code."""
_CREATED = frozenset(["branch", "pull_request", "release"])
"""Topics of what is made, not run."""
_PHRASES: tuple[tuple["re.Pattern[str]", frozenset[str]], ...] = (
    (re.compile(r"(?i)\b(?:pull|merge)[ -]requests?\b"), frozenset(["pull_request", "branch", "release"])),
    (re.compile(r"(?i)\btype[ -](?:check|error|safe)"), frozenset(["typecheck"])),
    (
        re.compile(
            r"(?i)\b(?:run|start|launch|boot)\s+(?:the\s+|my\s+|our\s+)?(?:dev\s+|local\s+)?(?:app|server|site)\b"
        ),
        frozenset(["serve"]),
    ),
    (re.compile(r"(?i)\bdev(?:elopment)?[ -]server\b"), frozenset(["serve"])),
    (
        re.compile(
            r"(?i)(?:^|[,;(]|\b(?:and|then|please|now|just|let'?s)\b)\s*(?:deploy|release|publish)\b(?!\s+(?:notes?|page|process)\b)"
            r"(?![^.\n]{0,40}\b(?:agents?|bots?|sub-?agents?|skills?|team)\b)"
            r"|\b(?:make|cut|do|start|trigger)\s+(?:a|the|another)\s+(?:new\s+)?(?:release|deployment)\b(?!\s+notes?)"
        ),
        frozenset(["deploy"]),
    ),
    (
        re.compile(
            r"(?i)\b(?:install(?:ing)?|set(?:ting)?[ -]?up)\s+(?:the\s+|all\s+|this\s+)?"
            r"(?:project|dependencies|deps|packages|repo\w*)\b|\b(?:after|fresh|new)\s+(?:a\s+)?clone\b"
        ),
        frozenset(["setup"]),
    ),
)
_BUILD = re.compile(
    r"(?i)\b(?:the|npm|pnpm|yarn|bun|local|production|failing|broken|run|fix)\s+build\b|\bbuild\s+(?:fail|err|brok|command|script|pass|step|lock|it\b)"
    r"|^\s*build\b"
)
"""The build of a project; to build something is to make it."""
_FOR_TESTS = re.compile(
    r"(?i)\btest\s+(?:repos?|repositor\w+|data|folders?|projects?|accounts?|users?|environments?|servers?)\b"
)
"""Things that are there for tests, which are no tests."""
_MADE_BY_TOOL = re.compile(
    r"(?i)\bgenerate\s+(?:the\s+|new\s+|all\s+)?(?:\w+\s+)?(?:types?|clients?|schemas?|code|bindings|stubs|sdk|mocks|models?)\b"
)
_NO_DEED = r"(?!s?\s*(?:[:#]|messages?\b|hash|sha\b|ids?\b|history|log\b|types?\b|tags?\b|[0-9a-f]{7,}\b))"
_COMMITTING = re.compile(
    r"(?i)(?:^|[,;(]|\b(?:and|then|please|to|you|now|first|also|let'?s|we|i|just|should|or|not|don't|can|git))\s*,?\s*"
    rf"commit\b{_NO_DEED}"
    rf"|\b(?:make|create|split|squash|amend|write|open)\b[^.?!\n]{{0,40}}\bcommits?\b{_NO_DEED}"
    r"|\b(?:did|have|has|was|were|is|are)\b[^.?!\n]{0,30}\bcommit(?:ted)?\b"
)
"""That something is committed; a commit that is spoken of is none."""
_DOING = name_set(
    "add adds adding fix fixes fixing implement implements implementing change changing refactor refactoring update create remove"
    " rename make write move replace extract migrate improve handle delete introduce"
    " rewrite convert port build failing broken crash crashes wrong ensure apply address resolve enable disable simplify clean"
    " cleanup integrate wire expose drop split merge bump upgrade redesign polish adjust tweak correct repair debug solve"
    " run runs running rerun execute pass passes passing fail fails failing failed failure failures green verify ensure complains"
    " complain set setup install start launch open use take regenerate generate must should please"
    " füge baue ändere cambia crea cria crie mets corrige"
)
"""Words of sentences that ask for work."""
_ORDER = re.compile(
    r"(?i)(?:^|[,;(]|\b(?:and|then|please|to|also|now|first|just|let'?s)\b)\s*"
    r"(?:test|lint|build|compile|format|type-?check|commit|push|release|publish|verify|check|branch|screenshot)\b"
)
"""A word that is a thing or a deed, where it is a deed."""
_DOING_STEMS = (
    "hinzuf änder korrig beheb repar erstell entfern verbesser aktualis umsetz implementier"
    " arregl añad agreg corrij elimin modific actualiz mejor implementa adicion remov atualiz melhor"
    " ajout implément supprim modifi amélior aggiung corregg rimuov aggiorn napraw dodaj"
    " исправ добав реализ создай создать удали измени обнов сдела почин перепиш рефактор"
    " 修复 修正 添加 增加 实现 修改 重构 删除 更新 优化 追加 実装 変更 作成 削除 直し 수정 추가 구현 변경 삭제"
)
_MAKING = name_set("feature features implement endpoint endpoints functionality capability funktion")
"""Words of prompts that ask for something new, which is to be shown to work."""
_MAKING_STEMS = (
    "implementier implementa implément funcionalidad fonctionnalit funzionalit функци функцион фич эндпоинт реализ"
    " 功能 接口 機能 実装 实现 기능 구현"
)
_CREATING = name_set("create open make raise submit ship new start begin erstelle öffne crea abre crée ouvre crie")
"""Words after which a branch or a pull request is made, and not only spoken of."""
_CREATING_STEMS = "созда открой 创建 作成 만들"
_SPOKEN_OF = re.compile(
    r"(?i)\bopen (?:prs|pull requests|branches)\b|\bdid (?:we|you|i)\b|\bdo (?:we|i) (?:need|have)\b"
)
"""A sentence that asks about branches and pull requests, and makes none."""
_REQUEST = re.compile(r"(?i)\b(?:can|could|would|will) you\b|\bplease\b|\b(?:did|have) you\b|\bcan we\b")
"""A question that asks for work."""
_SENTENCE = re.compile(r"(?<=[.!;。！])\s+|(?<=[?？])\s*|\n+")
_SHORT = 4
"""Words of a sentence that needs no verb: "failing lint"."""
_CONTINUING = name_set(
    "continue resume proceed next go going keep ahead yes yep yeah ok okay sure lgtm implement execute approved start begin"
    " weiter fortfahren ja los mach sí continúa sigue adelante continua prossegue prosseguir vai sim oui continuez poursuis vas"
    " avanti procedi kontynuuj dalej tak да продолжай продолжи давай далее дальше 继续 好的 開始 开始 続けて 続行 はい 계속 네"
)
_CARRYING = name_set(
    "it this that on with the plan please all of them now then as proposed suggested discussed above one two three first second"
    " third step steps phase option task do ahead going and you can let lets us started work working your is are fine good great"
    " perfect looks to und das es den bitte lo el la o a le les il lo план это 吧"
)
"""Words beside which a prompt only says that the work goes on."""
_MOST_WORDS = 10
_OTHER_SCRIPT = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")
"""Scripts in which words are not set apart."""


class Asked(NamedTuple):
    """What a prompt asks for."""

    words: frozenset[str]
    text: str
    """The sentences that ask for work, in lower case; none of a long prompt, which explains what it names."""
    topics: frozenset[str]
    makes: bool
    """Something new is made, which is to be shown to work."""


def read_prompt(prompt: str) -> Asked:
    """What a prompt asks for by its words."""
    words = words_of(prompt)
    asking = [sentence for sentence in _SENTENCE.split(_aim_of(prompt)) if _asks_for_work(sentence)]
    topics: frozenset[str] = frozenset().union(*map(_topics_in, asking))
    is_long = _is_long(prompt)
    return Asked(
        words,
        "" if is_long else "\n".join(asking).lower(),
        topics - _AT_THE_END if is_long else topics,
        not words.isdisjoint(_MAKING) or has_stem(words, _MAKING_STEMS),
    )


def _asks_for_work(sentence: str) -> bool:
    """Whether a sentence asks for something to be done. One in another language may: its verbs are too many to list."""
    text = sentence.strip()
    if text.endswith(("?", "？")) and not _REQUEST.search(text):
        return False
    words = _words_in(text)
    is_other = not text.isascii() or has_stem(words, _ANY_STEMS)
    is_order = not words.isdisjoint(_DOING) or has_stem(words, _DOING_STEMS) or _ORDER.search(text) is not None
    return is_order or is_other or len(words) <= _SHORT


def _topics_in(sentence: str) -> frozenset[str]:
    """The topics that a sentence which asks for work names."""
    sentence = _FOR_TESTS.sub(" ", sentence)
    words = _words_in(sentence)
    found = set(_topics_of(words if _BUILD.search(sentence) else words - {"build"}))
    for phrase, topics in _PHRASES:
        if phrase.search(sentence):
            found |= topics
    if _MADE_BY_TOOL.search(sentence):
        found.add("generate")
    if _COMMITTING.search(sentence) or ("commit" in words and not sentence.isascii()):
        found |= {"commit", "hook"}
    creates = not words.isdisjoint(_CREATING) or has_stem(words, _CREATING_STEMS)
    if not creates or _SPOKEN_OF.search(sentence):
        found -= _CREATED
    return frozenset(found)


def _words_in(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in _WORD.findall(text))


def _topics_of(words: frozenset[str]) -> frozenset[str]:
    found: set[str] = set()
    for word in words:
        found |= _TOPICS_BY_WORD.get(word, frozenset())
    found.update(topic for topic, stems in _TOPIC_STEMS.items() if has_stem(words, stems))
    return frozenset(found)


def goes_on(prompt: str) -> bool:
    """Whether a prompt only says that the work goes on, "continue" or "implement it": the task is that of the one before."""
    text = _MARKED.sub(" ", prompt[: 2 * _LONG])
    words = [word.lower() for word in _WORD.findall(text)]
    if not 0 < len(words) <= _MOST_WORDS or len(text) > _LONG or "?" in text:
        return False
    known = [word for word in words if word in _CONTINUING or word in _CARRYING]
    return len(known) == len(words) and any(word in _CONTINUING for word in words)


def words_of(text: str) -> frozenset[str]:
    """The words of a prompt's aim, in lower case."""
    return _words_in(_aim_of(text))


@lru_cache(maxsize=8)
def _aim_of(text: str) -> str:
    """Of a prompt what tells its aim: all of a short one, of a long one its beginning and end. Without paths, and without what a
    program put around it."""
    text = _PASTED.sub(" ", own_words(text)[:_MOST_READ]).strip()
    text = text if _QUOTED.fullmatch(text) else _QUOTED.sub(" ", text)  # some programs hand on the quotes of the shell
    text = _PATH.sub(" ", _MARKED.sub(" ", text) if "</" in text else text)
    if len(text) <= _LONG:
        return text
    return f"{text[:_BEGINNING]}\n{text[-_END:]}"


def _is_long(prompt: str) -> bool:
    """Whether a prompt says so much that its work is more than what it names: a plan, a report."""
    return len(_MARKED.sub(" ", own_words(prompt)[:_MOST_READ]).strip()) > _ONE_REQUEST


@lru_cache(maxsize=64)
def _stems_of(stems: str) -> tuple[Mapping[int, frozenset[str]], tuple[str, ...]]:
    """Stems by their length, and those of scripts without blanks."""
    joined = tuple(stem for stem in stems.split() if _OTHER_SCRIPT.search(stem))
    by_length: dict[int, set[str]] = {}
    for stem in stems.split():
        if stem not in joined:
            by_length.setdefault(len(stem), set()).add(stem)
    return {length: frozenset(each) for length, each in by_length.items()}, joined


def has_stem(words: frozenset[str], stems: str) -> bool:
    """Whether a word begins with one of some stems; in scripts without blanks, whether it holds one."""
    by_length, joined = _stems_of(stems)
    for word in words:
        if any(word[:length] in each for length, each in by_length.items()):
            return True
        if joined and not word.isascii() and any(stem in word for stem in joined):
            return True
    return False
