"""A free conversation through a chat model, held to the same checks. The only place that knows LangChain's agents."""
