"""The lab: the same tasks in every arm, with a real agent, and what that shows. Puts stages in their order as `app` does."""
