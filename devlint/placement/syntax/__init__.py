"""Reading LibCST nodes: their parts, text, operators and places in the file."""
