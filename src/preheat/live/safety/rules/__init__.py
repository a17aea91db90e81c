"""The reviewed rules, by what they protect. Data only."""
