"""Investigators: whoever looks for the cause of a behaviour and files a report."""
