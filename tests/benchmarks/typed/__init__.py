"""What annotated code says of its values, taken away, and asked back."""
