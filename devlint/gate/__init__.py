"""What is new: findings held against a baseline file, and against an earlier state of the repository."""
