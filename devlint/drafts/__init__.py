"""A finding before it has a place in the text: its words, its trace, the changes that would mend it."""
