"""Reading and updating the abstract state: device contexts, conditions, streams, host reads, call sites."""
