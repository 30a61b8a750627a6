"""Rules about time: placements that are right and cost more than they need to."""
