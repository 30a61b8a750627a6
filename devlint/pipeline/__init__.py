"""From a task to a report: one file analysed, several in worker processes, what comes back as plain data."""
