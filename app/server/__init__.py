"""What all pages of a process share: runs, the queue for processor cores, background
work, access.
"""
