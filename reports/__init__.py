"""From a session to files: snapshots, scan results, patches."""
