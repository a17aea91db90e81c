"""Safety of texts from sessions, tools, files and other people's templates. For every layer; knows no session and no lesson.

Such a text is data and may be written by anybody. This package decides what may be shown to a model: one module gives the reason
why a text is unfit (orders, hidden characters, harm, one machine), one cleans and quotes texts, one makes paths relative.
"""
