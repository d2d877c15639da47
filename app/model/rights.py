"""Rights of a page, and what it says when it lacks one."""

# Delete corpora, open and delete kept runs; name files of the serving machine.
MANAGE = "manage"
PATHS = "paths"
NEEDS_RIGHTS = (
    "To {}, log in. If this server has no login, open the address that it printed when it started:"
    " it contains a token."
)
