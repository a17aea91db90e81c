"""What can go wrong in the study, each with a text that says what to do. Standard library only."""


class StudyError(Exception):
    """The base of all: printed as one line by the command."""


class NotFetched(StudyError):  # noqa: N818 - reads as a sentence where it is raised
    """A model or the runtime could not be had."""


class Unfit(StudyError):  # noqa: N818
    """The model or its runtime does not do what the study relies on."""


class OtherRun(StudyError):  # noqa: N818
    """The file belongs to another run."""


class EndpointFailed(StudyError):  # noqa: N818
    """The endpoint did not answer as it should; what was done stays done."""


class Shifted(StudyError):  # noqa: N818
    """The border between prompt and command falls into a token."""
