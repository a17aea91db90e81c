"""Proof: who gets what by lot, and what came of it. Pure; knows no archive, no agent and no clock.

`assign` draws, `arms` words what placebo and note sessions read, `plan` checks what is planned, `measure` makes numbers of
sessions, `report` says what they show, `retire` what is withdrawn. How an effect is estimated is in `statistics`.
"""
