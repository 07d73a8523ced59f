"""What a fit will cost, before it starts: memory, disk and time, from counts and settings alone."""
