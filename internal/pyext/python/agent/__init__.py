"""What Python extensions of aura import, and the process that runs them.

Extensions use agent.extensions.api, agent.tools.schema and
agent.transports.companion_state. Names with a leading underscore belong to the
process that runs the extensions. Only the standard library is used.
"""
