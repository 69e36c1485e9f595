"""Counts the tool calls of the demonstration and says so at its end."""


def register(api):
    used = {}

    @api.on("tool_call")
    def count(event, ctx):
        used[event.tool_name] = used.get(event.tool_name, 0) + 1

    @api.on("session_end")
    def tell(event, ctx):
        ctx.logger.info("the model wanted " + ", ".join(f"{name} {n}x" for name, n in sorted(used.items())))
