import { Browser } from "@shoal/schemas";
import { afterAll, afterEach, beforeAll, expect, it } from "vitest";
import * as z from "zod/mini";
import { brokenAnswers, dripping, endlessAnswers } from "../testing/hostile-answers.ts";
import { type HostileInstances, startHostileInstances } from "../testing/hostile-instance.ts";
import { startTestServer, type TestServer } from "../testing/test-server.ts";
import { boundedFetch } from "./bounded-fetch.ts";

/** The largest file that a tool reads, and the buffers of the sockets between. */
const maxTakenBytes = 96 * 2 ** 20;

/** Arguments of the tools that call an instance. */
const toolArguments: Readonly<Record<string, object>> = {
  back: {},
  call_page_tool: { name: "x" },
  check: { ref: "e1" },
  click: { ref: "e1" },
  close_tab: {},
  answer_dialog: { accept: true },
  drag: { ref: "e1", to: { ref: "e2" } },
  evaluate: { code: "return 1" },
  fill: { ref: "e1", text: "x" },
  fill_secret: { ref: "e1", secret: { credential: "x", field: "password" } },
  forward: {},
  hover: { ref: "e1" },
  list_files: { path: "/" },
  list_page_tools: {},
  navigate: { url: "https://example.com/" },
  open_tab: {},
  pdf: {},
  press: { keys: ["Enter"] },
  read: {},
  read_file: { path: "/x" },
  reload: {},
  render: { url: "https://example.com/" },
  run: { command: "true" },
  screenshot: {},
  scroll: { delta_y: 1 },
  select: { ref: "e1", values: ["x"] },
  select_tab: { tab: "t1" },
  snapshot: {},
  upload: { ref: "e1", paths: ["/x"] },
  wait_for: { text: "x" },
  write_file: { path: "/x", content: "x" },
};
/** They ask this server alone, or end with the session's own answer. */
const withoutInstance = [
  "close_browser",
  "console_messages",
  "hand_over",
  "list_browsers",
  "list_profiles",
  "network_requests",
  "open_browser",
  "save_profile",
];

const Tools = z.object({ result: z.object({ tools: z.array(z.object({ name: z.string() })) }) });
const Called = z.object({ result: z.object({ isError: z.optional(z.boolean()) }) });

let instances: HostileInstances;
let server: TestServer;
let session: Browser;
let connection: Readonly<Record<string, string>>;

async function ask(method: string, params: object): Promise<unknown> {
  const answer = await fetch(`${server.baseUrl}/mcp?tools=all&session=${session.session_id}`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${server.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...connection,
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
  });
  const id = answer.headers.get("mcp-session-id");
  if (id !== null) connection = { "mcp-session-id": id };
  return JSON.parse(/^data: (\{.*)$/m.exec(await answer.text())?.[1] ?? "null");
}

beforeAll(async () => {
  instances = await startHostileInstances();
  server = await startTestServer({}, { aroundPlacement: instances.around });
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 600 } })).body);
  connection = {};
  await ask("initialize", {
    protocolVersion: "2025-11-25",
    capabilities: {},
    clientInfo: { name: "test", version: "1" },
  });
});
afterAll(async () => {
  await server.close();
  await instances.close();
});
afterEach(() => {
  instances.answer = (socket) => socket.destroy();
});

it("covers each tool that calls an instance", async () => {
  const { result } = Tools.parse(await ask("tools/list", {}));
  expect(
    result.tools
      .map(({ name }) => name)
      .filter((name) => !withoutInstance.includes(name))
      .sort(),
  ).toEqual(Object.keys(toolArguments).sort());
});

async function expectBounded(name: string): Promise<void> {
  const before = instances.takenBytes();
  const connectionsBefore = instances.received.length;
  const called = Called.safeParse(await ask("tools/call", { name, arguments: toolArguments[name] }));
  expect(called.success, name).toBe(true);
  // Reads are repeated after a broken answer.
  const attempts = Math.max(1, instances.received.length - connectionsBefore);
  expect(attempts, name).toBeLessThanOrEqual(3);
  expect((instances.takenBytes() - before) / attempts, name).toBeLessThan(maxTakenBytes);
}

it("bounds the answer of an instance to each tool", async () => {
  instances.answer = endlessAnswers["ever more empty objects"] ?? instances.answer;
  for (const name of Object.keys(toolArguments)) await expectBounded(name);
});

it.each(Object.entries({ ...endlessAnswers, ...brokenAnswers }))("bounds %s", async (_what, answer) => {
  instances.answer = answer;
  for (const name of ["snapshot", "read_file"]) await expectBounded(name);
});

it("ends an answer that arrives byte by byte", async () => {
  instances.answer = dripping;
  const impatient = boundedFetch({ jsonMs: 100, bytesMs: 100 });
  const url = `${server.baseUrl}/browsers/${session.session_id}/fs/list_files?path=/`;
  const headers = { authorization: `Bearer ${server.key}` };
  const answer = await impatient(url, { headers: { ...headers, accept: "application/json" } });
  expect([answer.status, await answer.json()]).toMatchObject([502, { code: "bad_gateway" }]);
  const bytes = impatient(url, { headers: { ...headers, accept: "application/octet-stream" } });
  await expect(bytes.then((each) => each.text())).rejects.toThrow(/timeout/);
  await expect.poll(() => instances.connections()).toBe(0);
});
