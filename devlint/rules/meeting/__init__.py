"""DEV4: operations whose operands are on different devices."""
