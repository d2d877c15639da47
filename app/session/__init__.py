"""One browser: its page, its address and what it shows."""
