"""Every page by its path."""

from preheat.web.pages.live import show_live
from preheat.web.pages.session import compare_two, show_entry, show_session, show_signals, show_transcript
from preheat.web.pages.sessions import list_sessions
from preheat.web.site import SitePage

PAGES = (
    SitePage("/sessions", list_sessions),
    SitePage("/session", show_session),
    SitePage("/session/transcript", show_transcript),
    SitePage("/session/entry", show_entry),
    SitePage("/session/signals", show_signals),
    SitePage("/compare", compare_two),
    SitePage("/live", show_live),
)
