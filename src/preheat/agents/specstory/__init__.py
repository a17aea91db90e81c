"""SpecStory: other agents' sessions as Markdown, imported one file at a time."""
