import { Client } from "@modelcontextprotocol/client";
import { getAuthContext } from "@shoal/contract";
import { createFetchRouter } from "@shoal/router/fetch";
import { createTransport } from "@shoal/transport";
import { PassThrough, type Readable, type Writable } from "node:stream";
import { expect, it } from "vitest";
import { readSettings } from "../server/settings.ts";
import { serveStdio } from "./serve-stdio.ts";

/** The client's half of a pair of streams. */
function lines(input: Readable, output: Writable) {
  const wire: Parameters<Client["connect"]>[0] = {
    start: () => Promise.resolve(),
    send: async (message) => void output.write(`${JSON.stringify(message)}\n`),
    close: async () => void output.end(),
  };
  let rest = "";
  input.setEncoding("utf8").on("data", (part: string) => {
    const parts = (rest + part).split("\n");
    rest = parts.pop() ?? "";
    for (const line of parts) wire.onmessage?.(JSON.parse(line) as Parameters<NonNullable<typeof wire.onmessage>>[0]);
  });
  return wire;
}

async function toolsWith(statements: readonly { action: string; resource: string }[] | undefined): Promise<string[]> {
  const router = createFetchRouter({ context: () => undefined });
  router.mount(getAuthContext, () => ({
    authentication: { method: "api_key", source: "api_key", credential_id: "k1" },
    authorization: {
      credential_scope: { project_id: null },
      effective_scope: { project_id: "p1" },
      ...(statements !== undefined && { policy: { statements: [...statements] } }),
    },
    organization: { id: "o1" },
    principal: { id: "k1", type: "api_key" },
  }));
  const settings = readSettings({});
  if ("problem" in settings) throw new Error(settings.problem);
  const [toServer, toClient] = [new PassThrough(), new PassThrough()];
  const transport = createTransport({ baseUrl: "http://localhost", fetch: (request) => router.fetch(request) });
  const ended = serveStdio({
    transport,
    rights: transport,
    settings,
    version: "1",
    input: toServer,
    output: toClient,
    signal: new AbortController().signal,
    onError: () => undefined,
  });
  const client = new Client({ name: "test", version: "1" });
  await client.connect(lines(toClient, toServer));
  const { tools } = await client.listTools();
  await client.close();
  await ended;
  return tools.map(({ name }) => name);
}

it("lists only the tools that the policy of the key allows", async () => {
  expect(await toolsWith([])).toEqual([]);
  const viewer = { action: "role:viewer", resource: "projects/p1/*" };
  const starts = { action: "operation:browsers.create", resource: "projects/p1/*" };
  expect(await toolsWith([viewer, starts])).toEqual([
    "open_browser",
    "snapshot",
    "read",
    "screenshot",
    "list_page_tools",
  ]);
  expect(await toolsWith(undefined)).toContain("write_file");
});
