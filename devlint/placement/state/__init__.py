"""Reading and changing the abstract state: device contexts, branch conditions, streams, host reads, call sites."""
