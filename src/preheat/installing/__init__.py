"""Setting agents up so that they call us, and taking it back: plans first, then files.

Knows no agent: what has to be where is in `agents`. A file of somebody else's is never rewritten, only added to.
"""
