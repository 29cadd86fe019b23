"""Behaviours that a program can judge, ready to be screened for: of any response, or made from a prompt's words."""
