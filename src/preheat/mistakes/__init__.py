"""Recurring mistakes and their repairs, for every layer: the terminal, the page and the lessons tell of them by these rules.

- `failure`: whether a failed call counts, its form, how it is shown, when two failures are the same mistake, and its title.
- `tries`, with `difference` and `command_difference`: what was tried after it, and what changed in what was tried.
- `repair`: what usually puts it right.
- `recurring`: the mistakes of many sessions, what they cost, and their repairs.

Knows no archive, no lesson and no surface. The rules, with their reasons:

- Two failures are the same mistake by the family of their tools and the telling words of their messages. A failure without a
  message of its own (an exit code alone, a line of help) is none: it would lump together what has nothing in common.
- A title has at most 120 letters, gaps joined and no backticks, since it stands in backticks in a sentence.
- All failures of the causes asked for count. That a lesson leaves out more (what means nothing in another session, what a
  commit hook found) is a rule about what to hand out: `failure.is_mistake`.
- A recovery is the first success of the same intent within five calls (`calls.intent`), as profiles count it; or the first
  right call of it, whatever its news: tests that run and fail were started rightly.
- What was done on the way counts if at least half of the recoveries did it, twice or more: what a session did only once may be
  chance, what most did is the repair, even if the call was changed as well. It gives way to a change that says more by itself,
  that the message names, or that more recoveries show.
- The repair is what made the difference, and not the form of whatever succeeded next, which would call `git checkout` the
  repair of a file that was not there. Where no difference is telling, none is claimed.
"""
