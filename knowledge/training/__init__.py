"""Adapts the default encoder to a subject: a LoRA adapter from documents and the questions that they answer."""
