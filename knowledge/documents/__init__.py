"""Documents: a file or URL becomes text with structure, whatever its format, or is refused with the reason."""

from knowledge.documents.loading import load, load_bytes
from knowledge.documents.walking import walk
from knowledge.documents.web import load_url

__all__ = ["load", "load_bytes", "load_url", "walk"]
