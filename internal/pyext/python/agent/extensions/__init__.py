"""The extension API (agent.extensions.api) and extensions that ship with aura."""
