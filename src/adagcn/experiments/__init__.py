"""Experiments: a spec becomes runs, a ledger, statistics, tables and figures."""
