"""What earlier runs came to, kept so that a file is analysed again only if something that it depends on has changed.

The cache has two parts. The *packs* are addressed by content: under the hash of a file's content and place in its
project they hold what the rules said, before selection and suppression, together with every question that was asked
of the tree around it and the answer; of another file that was looked into, the answer is what those parts of it say
that were looked at. They mean the same on every machine. The *table* is of one machine and one
directory: by size and times it tells which files are what they were, and it holds the last reports, so that a run in
which nothing has changed reads one file.

Nothing in it is ever executed: it is JSON, and what does not look as expected counts as not there.
"""
