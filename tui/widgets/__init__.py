"""The parts of the screen, one family a file."""
