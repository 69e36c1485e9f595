"""A companion that levels up with the work of the agent.

Copy this file to ~/.aar/extensions/ or .agent/extensions/ to have it.
"""

from agent.extensions.api import ExtensionAPI, ExtensionContext
from agent.transports.companion_state import CompanionEngine, xp_fraction


def register(api: ExtensionAPI) -> None:
    engine: CompanionEngine | None = None

    @api.on("session_start")
    def _on_session_start(event, ctx: ExtensionContext) -> None:
        nonlocal engine
        engine = CompanionEngine()
        if ctx.session is not None:
            engine.bootstrap_from_session(ctx.session)

    @api.on("tool_call")
    def _on_tool_call(event, ctx: ExtensionContext) -> None:
        if engine is None:
            return
        levelled_up = engine.on_step()
        if levelled_up:
            ctx.logger.info("Level up! Now level %d", engine.level)

    @api.on("stream_chunk")
    def _on_stream_chunk(event, ctx: ExtensionContext) -> None:
        if engine is not None:
            engine.on_stream_chunk(event.text, event.reasoning_text)

    @api.on("error")
    def _on_error(event, ctx: ExtensionContext) -> None:
        if engine is not None:
            engine.on_error()

    @api.tool(
        name="companion_status",
        description="Return the companion's mood, level, and XP",
        input_schema={"type": "object", "properties": {}, "additionalProperties": False},
    )
    def _companion_status(ctx: ExtensionContext) -> str:
        if engine is None:
            return "companion not initialised"
        xp = xp_fraction(engine.steps, engine.level)
        return f"mood={engine.mood.value} level={engine.level} xp={xp * 100:.0f}%"
