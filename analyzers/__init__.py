"""From a repository to findings: what depends on CUDA."""
