"""Experiments: a spec becomes runs, a ledger, statistics and tables."""
