"""Results as files: tables, figures, a page that works without a server."""
