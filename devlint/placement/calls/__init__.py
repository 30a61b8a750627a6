"""Transfer functions of calls: user functions and their summaries, modules, methods, models of library functions."""
