"""Audits: from a frozen claim to verdicts and a report; and rescoring of a stored trace by further observers."""
