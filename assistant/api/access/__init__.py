"""Who may do and read what: callers and their scopes, keys, people, rate limits, the audit log."""

from assistant.api.access.audit import Note, audited
from assistant.api.access.caller import Caller, Role, Scope, requires

__all__ = ["Caller", "Note", "Role", "Scope", "audited", "requires"]
