"""Lessons shared through a repository's own file, without a server: write it, trust it, check it.

    repository    the area: everything that surfaces call
    reading       the file of a clone as it is now, its lessons made safe
    planning      what the next version of the file has
    notice        one line for a person whose clone has a file that is not trusted
    tree_checks   what the working tree says of its lessons

Nothing of a file reaches a model or a list before a person trusted it in these very bytes.
"""
