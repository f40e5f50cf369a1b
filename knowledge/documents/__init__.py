"""Documents: a file or URL becomes text with structure, whatever its format, or is refused with the reason."""

from knowledge.documents.limits import Limits
from knowledge.documents.loading import load, load_bytes
from knowledge.documents.walking import walk

__all__ = ["Limits", "load", "load_bytes", "walk"]
