"""The ground: hardened git, safe paths, configuration, vocabulary, decisions, evidence, journal."""
