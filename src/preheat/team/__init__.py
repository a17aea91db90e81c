"""A team: what a machine pushes at which level, and in which form. Pure; knows no database.

`fields` says of every field what it is and at which level it leaves the machine; `rows` makes these rows of one session;
`address` reads the address of a team's database; `lessons` brings lessons into the form in which a team hands them on.
"""
