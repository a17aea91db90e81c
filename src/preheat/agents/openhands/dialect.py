"""How OpenHands words refusals and failures."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    fields={"rejected": "denied", "timeout": "timeout"},
    denied=(r"(?:Action|The action) (?:has been |was )?rejected",),
    mistake=(r"ERROR:\n(?:Invalid|No replacement|Parameter)", r"No replacement was performed", r"Invalid `?path`? parameter"),
    worked=(r"The file [^\n]{1,1000} has been edited", r"File created successfully at"),
)  # fmt: skip
