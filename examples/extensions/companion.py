"""A companion that grows with the work of the agent: /companion shows it."""

from agent.extensions.api import ExtensionAPI, ExtensionContext
from agent.transports.companion_state import CompanionEngine, xp_fraction

FACES = {
    "happy": "(^_^)", "sleeping": "(-_-) zzz", "focused": "(o_o)", "thinking": "(._.)?", "excited": "\\(^o^)/",
    "stressed": "(>_<)", "level_up": "*\\(^o^)/*",
}


def register(api: ExtensionAPI) -> None:
    engine: CompanionEngine | None = None

    @api.on("session_start")
    def begin(event, ctx: ExtensionContext) -> None:
        nonlocal engine
        engine = CompanionEngine()
        engine.bootstrap_from_session(ctx.session)

    @api.on("tool_call")
    def step(event, ctx: ExtensionContext) -> None:
        if engine is not None and engine.on_step():
            ctx.logger.info("Level up! Now level %d", engine.level)

    @api.on("tool_result")
    def result(event, ctx: ExtensionContext) -> None:
        if engine is not None and event.is_error:
            engine.on_error()

    @api.on("error")
    def error(event, ctx: ExtensionContext) -> None:
        if engine is not None:
            engine.on_error()

    @api.command("companion", description="Look at your companion")
    def show(args: str, ctx: ExtensionContext) -> str:
        if engine is None:
            return "nobody is here yet"
        filled = round(xp_fraction(engine.steps, engine.level) * 10)
        return f"{FACES[engine.mood.value]}  level {engine.level}  [{'#' * filled}{'.' * (10 - filled)}]  {engine.steps} steps"
