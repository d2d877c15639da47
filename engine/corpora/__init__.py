"""From files to word counts: reading, previewing, building, storing and loading corpora."""
