"""The report as one page for a browser: no network, no other file, readable without its script."""
