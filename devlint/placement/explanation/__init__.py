"""What the analysis holds an expression to be, and why it knows no more: for people, editors and counts."""
