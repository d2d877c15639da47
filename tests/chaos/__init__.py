"""Commands that damage files, kill processes, simulate disk failures and upload malformed files.

Tests run a part.
"""
