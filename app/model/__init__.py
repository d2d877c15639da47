"""What a page knows about runs. Pure: no Panel."""
