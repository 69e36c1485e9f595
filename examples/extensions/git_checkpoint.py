"""Makes every change of the agent undoable.

Before the first tool of a turn that writes or runs something, the state of the
working tree is stored as a Git object, without touching index, branch or stash.
/checkpoints lists them, /restore N brings the files of one back.
"""

import subprocess

from agent.extensions.api import ExtensionAPI, ExtensionContext

CHANGING = {"Write", "Edit", "Patch", "Bash", "Delete", "Move"}


def git(ctx: ExtensionContext, *args: str) -> str:
    done = subprocess.run(["git", *args], cwd=ctx.config.workdir, capture_output=True, text=True, timeout=8)
    if done.returncode != 0:
        raise RuntimeError(done.stderr.strip() or f"git {args[0]} failed")
    return done.stdout.strip()


def register(api: ExtensionAPI) -> None:
    checkpoints: list[tuple[str, str]] = []
    fresh = True  # No checkpoint in this turn yet.

    @api.on("user_message")
    def next_turn(event, ctx: ExtensionContext) -> None:
        nonlocal fresh
        fresh = True

    @api.on("tool_call")
    def save(event, ctx: ExtensionContext) -> None:
        nonlocal fresh
        if not fresh or event.tool_name not in CHANGING:
            return
        fresh = False
        try:
            commit = git(ctx, "stash", "create", "aura checkpoint") or git(ctx, "rev-parse", "HEAD")
        except (OSError, RuntimeError, subprocess.TimeoutExpired) as e:
            ctx.logger.debug("no checkpoint: %s", e)  # Not a repository, or one without commits.
            return
        checkpoints.append((commit, f"before {event.tool_name}, step {ctx.session.step_count}"))

    @api.command("checkpoints", description="List the states that /restore can bring back")
    def show(args: str, ctx: ExtensionContext) -> str:
        if not checkpoints:
            return "no checkpoints yet"
        return "\n".join(f"{n}  {commit[:10]}  {text}" for n, (commit, text) in enumerate(checkpoints, 1))

    @api.command("restore", description="Bring the files of a checkpoint back")
    def restore(args: str, ctx: ExtensionContext) -> str:
        number = int(args) if args.isdigit() else len(checkpoints)
        if not 1 <= number <= len(checkpoints):
            return "there is no such checkpoint"
        commit, text = checkpoints[number - 1]
        git(ctx, "checkout", commit, "--", ".")
        return f"restored {commit[:10]} ({text})"
