"""An agent by the Python kit (`mcp` 2): lists the tools, proposes a kernel, verifies it, and prints the verdict."""

import asyncio
import json
import sys

from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def finished(session, tool, arguments):
    result = (await session.call_tool(tool, arguments)).structured_content
    while result["state"] == "running":
        result = (await session.call_tool("wait", {"run": result["run"]})).structured_content
    return result


async def main(environment, source, command):
    server = StdioServerParameters(command=command[0], args=command[1:], env=environment)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        opened = await session.initialize()
        tools = [tool.name for tool in (await session.list_tools()).tools]
        proposed = await finished(session, "propose", {"source": source})
        kernel = proposed["document"]["kernel"]
        verified = await finished(session, "verify", {"kernel": kernel})
        unknown = await session.call_tool("project", {"kernel": "../project"})
        print(json.dumps({
            "server": opened.server_info.name,
            "tools": tools,
            "verdict": verified["document"]["verdict"],
            "unknown_is_error": unknown.is_error,
        }))


asyncio.run(main(json.loads(sys.argv[1]), sys.argv[2], sys.argv[3:]))
