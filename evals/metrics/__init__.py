"""What is measured, one file a metric. `CASE_METRICS` score one answer; the group metrics look at a whole run."""
