"""Calculators: one file each, and a registry."""
