"""What is observed of a run, on either machine: where tensors come from, what they meet, what goes wrong in silence."""
