"""Every page by its path."""

from preheat.web.pages.effect import show_effect
from preheat.web.pages.home import show_home
from preheat.web.pages.lessons import list_lessons, try_prompt
from preheat.web.pages.live import show_live
from preheat.web.pages.machine import list_projects, list_settings, show_health
from preheat.web.pages.mistakes import list_mistakes, show_mistake
from preheat.web.pages.proposal import show_proposal
from preheat.web.pages.session import compare_two, show_entry, show_session, show_signals, show_transcript
from preheat.web.pages.sessions import list_sessions
from preheat.web.site import SitePage

PAGES = (
    SitePage("/", show_home),
    SitePage("/sessions", list_sessions),
    SitePage("/session", show_session),
    SitePage("/session/transcript", show_transcript),
    SitePage("/session/entry", show_entry),
    SitePage("/session/signals", show_signals),
    SitePage("/compare", compare_two),
    SitePage("/mistakes", list_mistakes),
    SitePage("/mistake", show_mistake),
    SitePage("/lessons", list_lessons),
    SitePage("/lessons/try", try_prompt),
    SitePage("/lessons/propose", show_proposal),
    SitePage("/live", show_live),
    SitePage("/effect", show_effect),
    SitePage("/projects", list_projects),
    SitePage("/settings", list_settings),
    SitePage("/health", show_health),
)
