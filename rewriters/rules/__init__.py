"""One file a rewrite, named as the rule in ``analyzers/rules`` whose findings it fixes."""
