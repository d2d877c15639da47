"""Parts that several views use, with their JavaScript and CSS."""
