"""Errors that are meant to be shown: each message says what happened, to what, and what to do."""


class AdvisorError(Exception):
    """Base of every error whose message is written for the person who sees it."""


class InvalidInput(AdvisorError):
    """What was asked for can't be right; asking again in the same way gives the same error."""


class NotFound(InvalidInput):
    """There is no such thing here, or none that whoever asks may know of: the message is the same."""


class DocumentError(AdvisorError):
    """One document can't be read. Ingest reports it with its reason and goes on with the rest."""


class StoreError(AdvisorError):
    """The store can't be used as it is: missing, corrupt, newer than this program, or not writable."""


class EncoderMismatch(StoreError):
    """The store was built with another encoder; vectors of two encoders can't be compared."""


class EncoderError(AdvisorError):
    """The encoder can't be loaded or prepared, or its endpoint doesn't answer as it should."""
