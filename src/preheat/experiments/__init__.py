"""Randomised comparisons of sessions. Pure; knows no archive, no agent and no clock.

`assign` assigns arms, `arms` writes the texts of placebo and note sessions, `plan` checks plans, `measure` turns sessions into
numbers, `report` says what they show, `retire` what is to be withdrawn. How an effect is estimated is in `statistics`.
"""
