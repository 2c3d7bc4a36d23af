"""From a finding to edits and a patch: what could be changed, and changing it."""
