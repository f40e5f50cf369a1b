"""Measures the program on stores of any size: real passages among synthetic ones that look like them."""
