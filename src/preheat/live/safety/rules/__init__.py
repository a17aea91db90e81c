"""The reviewed rules, by what they protect. Data only: how they are matched is `safety.match`."""
