"""Results to documents: each format one pure function from a result to text."""
