"""Transfer functions of expressions and statements, and the table that maps node types to them."""
