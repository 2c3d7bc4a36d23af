"""One file a rule. A module here with a ``RULE`` is a rule; there is no list to edit."""
