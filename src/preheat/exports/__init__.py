"""Sessions in forms that other programs read, one module each. Pure: a session in, plain values or lines out."""
