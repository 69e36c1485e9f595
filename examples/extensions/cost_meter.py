"""Shows what a session costs: /cost, and a warning when it becomes expensive.

Prices are dollars per million tokens. The limit can be set for one session:

    aura --set COST_LIMIT=0.50
"""

from agent.extensions.api import ExtensionAPI, ExtensionContext

# The first name that the model's name begins with counts: (input, output).
PRICES = {
    "claude-opus": (15.0, 75.0),
    "claude-sonnet": (3.0, 15.0),
    "claude-haiku": (0.8, 4.0),
    "gpt-5-mini": (0.25, 2.0),
    "gpt-5": (1.25, 10.0),
    "gemini": (1.25, 10.0),
}


def cost(ctx: ExtensionContext) -> float:
    rates = next((rates for name, rates in PRICES.items() if ctx.config.model.startswith(name)), (0.0, 0.0))
    s = ctx.session
    return (s.total_input_tokens * rates[0] + s.total_output_tokens * rates[1]) / 1_000_000


def register(api: ExtensionAPI) -> None:
    warned = False

    @api.command("cost", description="Show tokens and cost of this session")
    def show(args: str, ctx: ExtensionContext) -> str:
        s = ctx.session
        return f"{s.total_input_tokens} tokens in, {s.total_output_tokens} out, {s.step_count} requests: ${cost(ctx):.4f}"

    @api.on("after_turn")
    def watch(event, ctx: ExtensionContext) -> None:
        nonlocal warned
        limit = float(ctx.config.vars.get("COST_LIMIT", "5"))
        if not warned and cost(ctx) > limit:
            warned = True
            ctx.logger.warning("this session has cost more than $%.2f", limit)
