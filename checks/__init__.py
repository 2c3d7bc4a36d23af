"""From a target to evidence: what really happens; the checklist and the verdict."""
