"""What a question means: its language, amounts, intent, and what earlier turns fixed."""
