"""How SWE-agent words what it does not run, and its editor's errors."""

from preheat.model.outcome import Dialect

DIALECT = Dialect(
    timeout=(r"EXECUTION TIMED OUT", r"The command '[^\n]{1,2000}' (?:was cancelled because it took|timed out)"),
    mistake=(
        r"Your proposed edit has introduced (?:new )?syntax error", r"(?:Usage|Error): (?:edit|open|goto|search_|create)\b",
        r"No replacement was performed", r"Your (?:last )?(?:output|command|response) (?:was not formatted|format)",
        r"Your output was not formatted correctly", r"Text not found: ", r"File [^\n]{1,500} not found$",
    ),
    failed=(r"Operation '[^\n]{1,400}' is not supported by this environment",),
    worked=(
        r"\[File: [^\n]{1,500} \(\d+ lines total\)\]", r"\[File updated", r"Text replaced\.", r"File updated\. ",
        r"Your command ran successfully and did not produce any output",
    ),
    empty=(r"No matches found for ",),
)  # fmt: skip
