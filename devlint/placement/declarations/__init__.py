"""What a file declares: its names, imports, functions and classes, and what their syntax shows about parameters."""
