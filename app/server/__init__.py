"""What all pages of a process share: runs, processor cores, background work, access."""
