"""Tests of the command line; a package, so that its fixtures have a module of their own."""
