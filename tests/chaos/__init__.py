"""Commands that damage files, kill processes, break disks and send odd uploads, and tests with a share of each."""
