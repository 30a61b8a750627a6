"""Reading LibCST nodes: their children, source text, operators and positions in the file."""
