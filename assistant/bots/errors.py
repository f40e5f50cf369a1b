"""What can go wrong between a platform and its bot."""

from __future__ import annotations

from assistant.errors import AdvisorError


class ChannelError(AdvisorError):
    """A platform refused what was sent, or can't be used as it is set up; sending it again won't help."""


class RateLimited(ChannelError):
    """The platform wants messages to come more slowly, or can't take them just now."""

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        """Seconds that the platform asked for; None where it named none."""


def refused(platform: str, what: str) -> ChannelError:
    """A platform's refusal, as one clear line."""
    return ChannelError(f"{platform} refused a message: {what}. Check the app's permissions and settings there.")
