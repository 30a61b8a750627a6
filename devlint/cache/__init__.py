"""The cache: lint results of earlier runs. A file is analysed again only if one of its dependencies has changed.

The cache has two parts. The *packs* are addressed by content: under the hash of a file's content and place in its
project they hold the lint result, before selection and suppression, together with its dependencies: every query of the
tree around the file with its answer. Of another file that was read, the answer is a fingerprint of the parts that were
read. Packs mean the same on every machine. The *table* is of one machine and one directory: by size and times it tells
which files are what they were, and it holds the last reports, so that a run in which nothing has changed reads one
file.

Nothing in it is ever executed: it is JSON, and what does not look as expected counts as not there.
"""
