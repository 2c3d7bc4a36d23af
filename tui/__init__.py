"""The screens, and the command line in front of everything."""
