"""Randomised comparisons of sessions. Pure; knows no archive, no agent and no clock.

`plan` checks plans, `assignment` assigns arms and writes the texts of placebo and note sessions, `measure` turns sessions into
numbers, `report` says what they show, `withdrawal` what is to be withdrawn. How an effect is estimated is in `statistics`.
"""
