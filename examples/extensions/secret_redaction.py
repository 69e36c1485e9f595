"""Keeps secrets out of what the model reads.

Tokens, keys and passwords in tool results are replaced before the model sees
them; the user is told how many. What the user types is treated the same.
"""

import re

from agent.extensions.api import ExtensionAPI, ExtensionContext

SECRETS = re.compile(
    r"""
      (?P<keep>(?:api[_-]?key|token|secret|password|passwd)["']?\s*[:=]\s*["']?)[^\s"'&]{6,}
    | \b(?:sk|pk|rk)-[A-Za-z0-9_-]{16,}           # model providers
    | \bgh[pousr]_[A-Za-z0-9]{20,}                # GitHub
    | \bAKIA[0-9A-Z]{16}\b                        # AWS
    | -----BEGIN[ A-Z]*PRIVATE\ KEY-----.*?-----END[ A-Z]*PRIVATE\ KEY-----
    """,
    re.VERBOSE | re.IGNORECASE | re.DOTALL,
)


def redact(text: str) -> tuple[str, int]:
    return SECRETS.subn(lambda m: (m["keep"] or "") + "[redacted]", text)


def register(api: ExtensionAPI) -> None:
    @api.on("tool_result")
    def clean_result(event, ctx: ExtensionContext) -> str | None:
        text, count = redact(event.output)
        if count == 0:
            return None
        ctx.logger.info("%d secrets redacted in the result of %s", count, event.tool_name)
        return text

    @api.on("user_message")
    def clean_message(event, ctx: ExtensionContext) -> str | None:
        text, count = redact(event.content)
        if count == 0:
            return None
        ctx.logger.info("%d secrets redacted in your message", count)
        return text
