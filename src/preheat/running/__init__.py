"""The daemon as other programs see it: its files, whether it runs, how to ask it. Does not know what it does."""
