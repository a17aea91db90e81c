"""Texts that came out of sessions, tools, files and other people's templates, made fit for where they go. For every layer.

Such a text is data and may be written by anybody. This is the one place that decides what of it may go on: `reasons` says why a
text is unfit (it gives orders, hides something, belongs to one machine, does harm), `quotation` makes one harmless to stand
before a model, `withheld` leaves out those that give orders, `letters` takes out what does not show, `paths` makes its paths
begin at the project. Knows no session and no lesson.
"""
