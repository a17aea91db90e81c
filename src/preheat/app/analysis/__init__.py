"""Analysis of sessions: outcomes and measures of one session, and the questions that the stored rows answer."""
