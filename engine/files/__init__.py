"""Files that are written completely or not at all, with checksums that find every damage."""
