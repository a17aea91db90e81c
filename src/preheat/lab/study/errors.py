"""What can go wrong in the study, each with a text that says what to do. Standard library only."""


class StudyError(Exception):
    """The base of all: printed as one line by the command."""


class FetchError(StudyError):
    """A model or the runtime could not be had."""


class ModelCheckError(StudyError):
    """The model or its runtime does not do what the study relies on."""


class OtherRunError(StudyError):
    """The file belongs to another run."""


class EndpointError(StudyError):
    """The endpoint did not answer as it should; what was done stays done."""


class TokenBorderError(StudyError):
    """The border between prompt and command falls into a token."""
