"""Transfer functions of torch operations: factories, transfers, subscripts, and the device check of operands."""
