"""Recurring mistakes and their repairs, for every layer: the terminal, the page and the lessons tell of them by these rules.

- `identity`: when two failures are the same mistake, and what it is called.
- `failure`: whether a failed call counts, what form it has, how it is shown.
- `tries`, with `difference` and its two siblings: what was tried after it, and what changed in what was tried.
- `repair`: what usually puts it right.
- `recurring`: the mistakes of many sessions, what they cost, and their repairs.

Knows no archive, no lesson and no surface. There were two sets of rules, one over rows and one over notes. Where they differed:

- Same mistake: both had family and telling words. A failure without a message of its own (an exit code alone, a line of help)
  is none, as the lessons had it: it lumped together what has nothing in common.
- Title: the lessons' (120 letters, gaps joined, no backticks), since it stands in backticks in a sentence.
- Which failures count: all of the causes asked for, as the rows had it. That a lesson leaves out more (what means nothing in
  another session, what a commit hook found) is a rule about what to hand out, and stays with `failure.is_mistake`.
- Recovery: the first success of the same intent within five calls (`calls.intent`), as the judge counts it for profiles; and,
  as the lessons had it, the first right call of it, whatever its news: tests that run and fail were started rightly.
- What was done on the way: counts if at least half of the recoveries did it, twice or more (the rows' rule), and not only where
  the same call came again (the lessons' rule): what a session did only once may be chance, what most did is the repair, even if
  the call was changed as well. It gives way to a change that says more by itself, that the message names, or that more show.
- The repair: what made the difference, as the lessons had it, and not the form of whatever succeeded next (the rows' rule),
  which called `git checkout` the repair of a file that was not there. Where no difference is telling, none is claimed.
"""
