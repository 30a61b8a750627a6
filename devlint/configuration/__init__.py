"""Settings: found, read, checked, and where each of them came from; the codes that selections name."""
