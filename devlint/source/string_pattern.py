"""How a text literal is spelled, for the scanners that read Python without a parser: part of a verbose pattern.

No character can be read in two ways, and nothing that was read is given back (``*+``): a text that is never closed,
with however many backslashes, is found to be none in one pass.
"""

STRING = r"""
    (?P<string> [A-Za-z]{0,2} (?: (?P<triple>\"{3}|'{3}) (?:\\.|(?!(?P=triple))[^\\])*+ (?P=triple)
              | "(?:\\.|[^"\\\r\n])*+" | '(?:\\.|[^'\\\r\n])*+' ))
"""
"""For ``re.X | re.S``."""
