"""The analysis of one module, and the workspace in which modules resolve the names of each other."""
