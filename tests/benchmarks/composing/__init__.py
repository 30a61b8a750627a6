"""Small programs composed of healthy pieces, with or without one planted bug."""
