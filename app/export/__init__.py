"""Results as files: tables, figures, and a page that works without a server."""
