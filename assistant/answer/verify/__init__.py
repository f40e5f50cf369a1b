"""The checks that decide what may be shown, whoever wrote it.

`rendered` compares a finished answer with its citations and calculations; the other modules read free text while a chat
model writes it, and decide sentence by sentence.
"""

from assistant.answer.verify.rendered import MARK, Fault, verify

__all__ = ["MARK", "Fault", "verify"]
