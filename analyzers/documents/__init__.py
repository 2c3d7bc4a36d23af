"""The kinds of file that rules read, each parsed by a real parser into a document."""
