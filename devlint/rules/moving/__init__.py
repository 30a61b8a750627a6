"""Rules about transfers: moves that are lost, moves of the wrong thing, moves that come too early or too late."""
