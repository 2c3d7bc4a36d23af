"""The screen and what opens over it."""
