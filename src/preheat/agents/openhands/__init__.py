"""OpenHands: conversations of the SDK and the command line, and the histories of older versions."""
