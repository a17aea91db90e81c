"""What one tool call is about: its files, its intent, its form, the words its error is known by. Knows no session.

Several stages ask this: `profiles` to know a repetition or a recovery when it comes, `lessons` to know the same thing when
it is done again in another session.
"""
