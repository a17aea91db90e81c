"""The daemon as others see it: where it keeps its things, whether it runs, how it is asked. Knows not what it does."""
