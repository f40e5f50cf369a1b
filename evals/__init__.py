"""Suites of questions with reference answers, and what runs, scores, compares and reports them."""
