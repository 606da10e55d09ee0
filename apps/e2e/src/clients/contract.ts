import { type Door, earlierKernels, npm, pip } from "./client.ts";

const clients = "apps/e2e/src/automation/npm-clients.slow.ts";
const kernelClients = "apps/e2e/src/automation/kernel-clients.slow.ts";
const mcpTests = "apps/e2e/src/mcp/mcp.slow.ts";

export const ownContract: Door = {
  name: "The contract",
  page: "guide/from-onkernel-sdk.md",
  clients: [
    {
      name: "@onkernel/sdk",
      language: "Node.js",
      versions: [npm("@onkernel/sdk"), npm("onkernel-sdk-0.49"), npm("onkernel-sdk-0.23")],
      change: "`KERNEL_BASE_URL=https://shoal.example` and `KERNEL_API_KEY`",
      tests: {
        [kernelClients]: ["@onkernel/sdk %s creates, lists, uses and deletes a browser"],
        "apps/e2e/src/contract/onkernel-sdk.variants.test.ts": [
          "runs a browser",
          "keeps browsers warm in a pool, and leases them",
          "works on files and watches a directory",
          "manages proxies, and uses one in a session",
        ],
      },
      flow: "sessions, pools, files, proxies, profiles, keys; the earlier versions: sessions, files, processes",
      code: `import Kernel from "@onkernel/sdk";

const kernel = new Kernel({ apiKey: process.env.SHOAL_API_KEY, baseURL: "SERVICE_URL" });
const session = await kernel.browsers.retrieve("SESSION_ID");`,
    },
    {
      name: "kernel",
      language: "Python",
      versions: [pip("kernel")],
      change: "the same variables",
      tests: {
        "apps/e2e/src/newest-client/newest-client.slow.ts": [
          "finds that the answers to %s fit its types",
          "has the operations and fields that are listed here",
        ],
        "apps/e2e/src/contract/python-guide.slow.ts": ["docs/guide/python.md: From start to end"],
      },
      flow: "the newest fields, vaults, code, with strict validation; the guide",
      limits: "Payments and the config registry answer 501.",
      code: `import os
from kernel import Kernel

kernel = Kernel(api_key=os.environ["SHOAL_API_KEY"], base_url="SERVICE_URL")
session = kernel.browsers.retrieve("SESSION_ID")`,
    },
    {
      name: "kernel, earlier versions",
      language: "Python",
      versions: earlierKernels,
      change: "the same variables",
      tests: {
        "apps/e2e/src/automation/earlier-kernel.slow.ts": [
          "kernel %s uses files, processes, code, logs and recordings of a session without its key",
        ],
      },
      flow: "files, processes, code, logs, recordings",
    },
    {
      name: "@computesdk/kernel",
      language: "Node.js",
      versions: [npm("@computesdk/kernel")],
      change: "`KERNEL_BASE_URL=https://shoal.example`",
      tests: { [clients]: ["@computesdk/kernel creates, finds and ends a session and a profile"] },
      flow: "sessions, profiles",
      code: `import { kernel } from "@computesdk/kernel";

process.env.KERNEL_BASE_URL = "SERVICE_URL";
const provider = kernel({ apiKey: process.env.SHOAL_API_KEY });
const connectUrl = await provider.getConnectUrl("SESSION_ID");`,
    },
    {
      name: "@onkernel/ai-sdk",
      language: "Node.js",
      versions: [npm("@onkernel/ai-sdk")],
      change: "`new Kernel({ baseURL, apiKey })` as its `client`",
      tests: { [clients]: ["@onkernel/ai-sdk runs a model's tool call in the session"] },
      flow: "a tool call of a scripted model",
      limits: "It supports version 5 of the AI SDK.",
      code: `import { playwrightExecuteTool } from "@onkernel/ai-sdk";
import Kernel from "@onkernel/sdk";

const client = new Kernel({ apiKey: process.env.SHOAL_API_KEY, baseURL: "SERVICE_URL" });
const tools = { playwright_execute: playwrightExecuteTool({ client, sessionId: "SESSION_ID" }) };`,
    },
  ],
};

export const mcp: Door = {
  name: "MCP",
  page: "guide/mcp.md",
  clients: [
    {
      name: "@modelcontextprotocol/client",
      language: "Node.js",
      versions: [npm("@modelcontextprotocol/client")],
      change: "`https://shoal.example/mcp` with `Authorization: Bearer KEY`, or the command `shoal mcp`",
      tests: {
        [mcpTests]: [
          "starts a browser on first use and ends it with the client",
          "uses a running session with --session, and does not end it",
          "keeps the pages of",
        ],
      },
      flow: "stdio and HTTP, with the revisions 2025-11-25 and 2026-07-28",
      code: `import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";

const headers = { authorization: \`Bearer \${process.env.SHOAL_API_KEY}\` };
const client = new Client({ name: "mine", version: "1" });
const address = new URL("SERVICE_URL/mcp?session=SESSION_ID");
await client.connect(new StreamableHTTPClientTransport(address, { requestInit: { headers } }));`,
    },
    {
      name: "@ai-sdk/mcp",
      language: "Node.js",
      versions: [npm("@ai-sdk/mcp")],
      change: "the same address",
      tests: { [mcpTests]: ["serves the MCP client of the AI SDK"] },
      flow: "tools for files over HTTP",
      code: `import { createMCPClient } from "@ai-sdk/mcp";

const headers = { authorization: \`Bearer \${process.env.SHOAL_API_KEY}\` };
const url = "SERVICE_URL/mcp?session=SESSION_ID";
const client = await createMCPClient({ transport: { type: "http", url, headers } });`,
    },
    {
      name: "mcp",
      language: "Python",
      versions: [pip("mcp")],
      change: "the command `shoal mcp`",
      tests: { "apps/e2e/src/contract/python-guide.slow.ts": ["docs/guide/python.md: MCP"] },
      flow: "stdio",
      code: `import os
from mcp import Client, StdioServerParameters

env = {"PATH": os.environ["PATH"], "SHOAL_API_KEY": os.environ["SHOAL_API_KEY"], "SHOAL_BASE_URL": "SERVICE_URL"}
client = Client(StdioServerParameters(command="shoal", args=["mcp", "--session", "SESSION_ID"], env=env))`,
    },
  ],
};
