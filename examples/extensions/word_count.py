"""A tool that counts: words, lines and characters of a text or a file."""

from pathlib import Path

from agent.extensions.api import ExtensionAPI, ExtensionContext
from agent.tools.schema import SideEffect


def register(api: ExtensionAPI) -> None:
    @api.tool(
        name="word_count",
        description="Count words, lines and characters of a text, or of a file",
        input_schema={
            "type": "object",
            "properties": {
                "text": {"type": "string", "description": "Text to count"},
                "path": {"type": "string", "description": "File to count instead"},
            },
            "additionalProperties": False,
        },
        side_effects=[SideEffect.READ],
    )
    def word_count(ctx: ExtensionContext, text: str = "", path: str = "") -> str:
        if path:
            text = (Path(ctx.config.workdir) / path).read_text(encoding="utf-8", errors="replace")
        return f"{len(text.split())} words, {len(text.splitlines())} lines, {len(text)} characters"
