"""Thin commands; imported by nobody."""
