"""The standing attack suite: seeded attacks on the real program, small in CI, at full size by `./dev attack`."""
