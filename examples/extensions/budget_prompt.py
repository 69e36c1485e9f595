"""Tells the model how much room it has, and trims old tool results when it gets tight."""

from agent.extensions.api import ExtensionAPI, ExtensionContext, Message, Result

FULL = 0.6  # Share of the context window from which old results are shortened.
KEEP = 400  # Characters of them that stay.


def share(ctx: ExtensionContext) -> float:
    window = ctx.config.context_length
    return ctx.session.context_tokens / window if window else 0.0


def register(api: ExtensionAPI) -> None:
    api.append_system_prompt("Prefer small tool results: read parts of files, limit searches.")

    @api.on("before_chat")
    def tell(event, ctx: ExtensionContext) -> Result | None:
        if share(ctx) < FULL:
            return None
        return Result(append_system=f"The context window is {share(ctx):.0%} full. Be brief.")

    @api.on("before_turn")
    def trim(event, ctx: ExtensionContext) -> list[Message] | None:
        if share(ctx) < FULL:
            return None
        messages = event.messages
        for m in messages[:-6]:  # The latest ones stay whole.
            if m.role == "tool" and len(m.content) > KEEP:
                m.content = m.content[:KEEP] + "\n[shortened: read it again if you need the rest]"
        return messages
