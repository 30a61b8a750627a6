"""Drafts: findings before they have places in the text. Their wording, their trace, the changes of their repair."""
