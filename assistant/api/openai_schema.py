"""What the OpenAI-compatible routes take and give."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from assistant.schema import Answer, Citation, Language, Status, Timings, ToolRun

MODEL = "advisor"
PLAIN = r"^[^\x00]*$"


class TextPart(BaseModel):
    """Text as one part of a message."""

    type: Literal["text"]
    text: str = Field(pattern=PLAIN)


class UserMessage(BaseModel):
    """A question."""

    role: Literal["user"]
    content: Annotated[str, Field(pattern=PLAIN)] | list[TextPart] = Field(description="Text alone is read.")

    @property
    def text(self) -> str:
        """The question in one string."""
        return self.content if isinstance(self.content, str) else "\n".join(part.text for part in self.content)


class OtherMessage(BaseModel):
    """An earlier answer, or instructions. Accepted and not used: what was fixed follows from the questions alone, and
    how answers are given is not for a message to change."""

    role: Literal["assistant", "system", "developer", "tool", "function"]
    content: Any = None


class StreamOptions(BaseModel):
    """How a stream ends."""

    include_usage: bool | None = Field(default=None, description="Send one more chunk with `usage`.")


class ResponseFormat(BaseModel):
    """Only text is written."""

    type: Literal["text"]


class ChatRequest(BaseModel):
    """OpenAI's chat completion request. What isn't named here (temperature, seed, tools …) is accepted and has no
    effect."""

    model_config = ConfigDict(
        json_schema_extra={
            "examples": [
                {
                    "model": MODEL,
                    "messages": [
                        {"role": "user", "content": "64 张 H100 训 7B、2T token 要多久？"},
                        {"role": "assistant", "content": "…"},
                        {"role": "user", "content": "那换成 A100 呢？"},
                    ],
                }
            ]
        }
    )

    model: Annotated[str, Field(max_length=200)]
    messages: list[Annotated[UserMessage | OtherMessage, Field(discriminator="role")]] = Field(
        min_length=1, max_length=1000, description="The whole conversation; the last message is the question."
    )
    stream: bool | None = False
    stream_options: StreamOptions | None = None
    n: Literal[1] | None = None
    response_format: ResponseFormat | None = None
    tool_choice: Literal["none", "auto"] | None = Field(
        default=None, description="It works with its own calculators and calls none of the client's tools."
    )


class Extension(BaseModel):
    """What an answer has beyond its text, in the field `advisor`."""

    status: Status
    language: Language
    text: str = Field(description="Markdown with marks [1] and [T1], without the footnotes of `content`.")
    citations: list[Citation]
    tool_runs: list[ToolRun]
    missing: list[str]
    follow_ups: list[str]
    warnings: list[str]
    model: str
    timings_ms: Timings

    @classmethod
    def of(cls, answer: Answer) -> Extension:
        """Of an answer."""
        return cls(**{name: getattr(answer, name) for name in cls.model_fields})


class Usage(BaseModel):
    """Tokens that a chat model took; none without one."""

    prompt_tokens: int = 0
    completion_tokens: int = 0
    total_tokens: int = 0

    @classmethod
    def of(cls, answer: Answer) -> Usage:
        """Of an answer."""
        if answer.usage is None:
            return cls()
        sent, got = answer.usage.input_tokens, answer.usage.output_tokens
        return cls(prompt_tokens=sent, completion_tokens=got, total_tokens=sent + got)


class Message(BaseModel):
    """The answer."""

    role: Literal["assistant"] = "assistant"
    content: str = Field(description="Markdown; its footnotes name every source and calculation.")
    refusal: None = None


class Choice(BaseModel):
    """The only choice."""

    index: Literal[0] = 0
    message: Message
    finish_reason: Literal["stop"] = "stop"
    logprobs: None = None


class Completion(BaseModel):
    """OpenAI's chat completion, with one field more."""

    id: str
    object: Literal["chat.completion"] = "chat.completion"
    created: int
    model: str = MODEL
    choices: list[Choice]
    usage: Usage
    advisor: Extension


class Delta(BaseModel):
    """Text to be appended."""

    role: Literal["assistant"] | None = None
    content: str | None = None


class ChunkChoice(BaseModel):
    """A piece of the only choice."""

    index: Literal[0] = 0
    delta: Delta
    finish_reason: Literal["stop"] | None = None


class Chunk(BaseModel):
    """One event of a stream; `advisor` comes with the one that has a `finish_reason`."""

    id: str
    object: Literal["chat.completion.chunk"] = "chat.completion.chunk"
    created: int
    model: str = MODEL
    choices: list[ChunkChoice]
    usage: Usage | None = None
    advisor: Extension | None = None


class ModelCard(BaseModel):
    """OpenAI's model object."""

    id: str = MODEL
    object: Literal["model"] = "model"
    created: int = 0
    owned_by: str = "cloud-training-advisor"


class ModelList(BaseModel):
    """OpenAI's list of models."""

    object: Literal["list"] = "list"
    data: list[ModelCard]
