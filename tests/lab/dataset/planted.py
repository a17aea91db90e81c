"""An invented identity, and sessions that have it in every field there is."""

from typing import Any, NamedTuple

from hypothesis import strategies as st

from preheat.lab.dataset.common_words import ACCOUNTS, WORDS
from preheat.model.session import (
    AssistantMessage,
    Compaction,
    Event,
    Other,
    Problem,
    Reasoning,
    Session,
    Spawn,
    ToolCall,
    ToolResult,
    UserMessage,
)

SECRET = "ghp_Zk3vQ9xT7bLm2RwY8nHc5JdPfA1sGu4EoKiV"


class Identity(NamedTuple):
    """Somebody's account, names, company, machine and project."""

    account: str
    first: str
    last: str
    company: str
    machine: str
    project: str

    @property
    def words(self) -> tuple[str, ...]:
        """None of these may come out, however written."""
        return tuple(word.lower() for word in self)

    @property
    def home(self) -> str:
        return f"/Users/{self.account}"

    @property
    def folder(self) -> str:
        return f"{self.home}/work/{self.company}/{self.project}"

    @property
    def email(self) -> str:
        return f"{self.first}.{self.last}@{self.company}.io"

    @property
    def host(self) -> str:
        return f"{self.machine}.{self.company}.io"

    def text(self) -> str:
        """A text in which everything stands, each in its place and alone."""
        return (
            f"Author: {self.first.title()} {self.last.title()} <{self.email}>\n"
            f"cd {self.folder}/src && cat C:\\Users\\{self.account}\\{self.project}\\notes.txt; ssh {self.account}@{self.host}\n"
            f"origin git@github.com:{self.company}/{self.project}.git (fetch), see https://{self.host}/wiki/{self.first}?q=1\n"
            f"GITHUB_TOKEN={SECRET} call +41 79 555 {len(self.account)}3 21 or 10.20.30.40\n"
            f"{self.first.title()}{self.last.title()} said \\n{self.account} of {self.company.upper()} likes"
            f" {self.project}_{self.machine}-build, %2FUsers%2F{self.account}%2F{self.project}\n"
            f'{{"user_name": "{self.first.title()} {self.last.title()}", "id": "9b1deb4d-3b7d-4bad-9bdd-2b0d7b3dcb6d"}}'
        )


def _is_rare(word: str) -> bool:
    return word not in WORDS and word not in ACCOUNTS


def identities() -> st.SearchStrategy[Identity]:
    """Different words that no dictionary of ours has: a `q` before each keeps them apart from English."""
    words = st.text("abdegiklmnoprstuvz", min_size=5, max_size=9).map(lambda text: f"q{text}").filter(_is_rare)
    return (
        st.lists(words, min_size=6, max_size=6, unique=True).map(lambda found: Identity(*found)).filter(_are_distinct)
    )


def _are_distinct(identity: Identity) -> bool:
    return not any(one in other for one in identity for other in identity if one != other)


def session_of(identity: Identity) -> Session:
    """A session with the identity in every text of every event, and in its heading."""
    text = identity.text()
    events: tuple[Event, ...] = (
        UserMessage(line=1, at=1_770_000_000.0, text=text),
        UserMessage(line=2, at=1_770_000_001.0, text=text, origin="injected", images=1),
        Reasoning(line=3, at=1_770_000_002.0, text=text, response=f"resp-{identity.account}"),
        AssistantMessage(line=4, text=text, response=f"resp-{identity.account}", model=f"{identity.company}-model"),
        _call(identity, 5, f"mcp__{identity.company}__ask", "other", {text: text, "nested": [{identity.project: text}]}),
        _call(identity, 6, "Bash", "shell", {"command": f"cd {identity.folder} && ./{identity.project} --for {identity.first}"}),
        ToolResult(
            line=7, at=1_770_000_009.0, call_id=f"call-{identity.account}-6", text=text, is_error=True, exit_code=1, seconds=2.5,
            detail={identity.account: text}, frame=(text, text),
        ),
        Spawn(line=8, session=f"{identity.project}-child", call_id=f"call-{identity.account}-5"),
        Compaction(line=9, trigger=identity.account, summary=text, tokens_before=1000),
        Other(line=10, name=f"{identity.project}-record", raw={identity.account: text}),
        Other(line=11, name="context_window", raw=200_000),
        Other(line=12, name="late_ending", raw={"call_id": f"call-{identity.account}-6", "exit_code": 0, "x": text}),
    )  # fmt: skip
    return Session(
        agent="claude_code", id=f"{identity.project}-{identity.account}-1", version=f"1.0-{identity.company}",
        model=f"{identity.company}-model", project=identity.folder, branch=f"{identity.account}/{identity.project}-fix",
        parent=f"{identity.account}-parent", relation="fork", started_at=1_770_000_000.0, ended_at=1_770_000_010.0,
        starter="human", title=text, events=events, problems=(Problem(text, identity.folder, 3),),
    )  # fmt: skip


def _call(identity: Identity, line: int, tool: str, kind: Any, arguments: dict[str, Any]) -> ToolCall:
    return ToolCall(
        line=line, at=1_770_000_000.0 + line, call_id=f"call-{identity.account}-{line}", tool=tool, kind=kind, input=arguments,
        response=f"resp-{identity.account}",
    )  # fmt: skip


def found_in(text: str, identity: Identity) -> list[str]:
    """What of an identity stands in a text."""
    small = text.lower()
    planted = (*identity.words, SECRET.lower(), "10.20.30.40", "9b1deb4d", "+41 79")
    return [word for word in planted if word in small]
