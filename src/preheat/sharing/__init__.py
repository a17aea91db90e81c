"""Lessons as others may have them: in slots of our own grammar, with rounded evidence, as lines of a file that git can merge.

    entry       a lesson without what is one person's or one machine's, and back
    evidence    counts and days, rounded so that small growth changes nothing
    faults      why an entry may not be used, whoever wrote it
    document    the file: canonical lines, what changes from one version to the next
    check       what is wrong with a file for its working tree

Pure: the file itself, the archive and the working tree are the application's.
"""
