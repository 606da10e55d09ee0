import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../testing/server-processes.ts";

let servers: ServerProcesses;
let one: ServerProcess;
let two: ServerProcess;

beforeAll(async () => {
  const started = await startServerProcesses();
  servers = started;
  one = started.one;
  two = await servers.start("two");
});
afterAll(() => servers.close());

async function post(server: ServerProcess, message: object, session?: string) {
  const answer = await fetch(`${server.baseUrl}/mcp?tools=files`, {
    method: "POST",
    headers: {
      authorization: `Bearer ${servers.key}`,
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...(session !== undefined && { "mcp-session-id": session }),
    },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, ...message }),
  });
  return { status: answer.status, session: answer.headers.get("mcp-session-id") ?? "", text: await answer.text() };
}
const connect = (server: ServerProcess) =>
  post(server, {
    method: "initialize",
    params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } },
  });
const call = (server: ServerProcess, session: string, name: string, args: object) =>
  post(server, { method: "tools/call", params: { name, arguments: args } }, session);

it("answers at every server of a database, with the one browser of the connection", async () => {
  const { session } = await connect(one);
  const path = "/home/shoal/note.txt";
  const written = await call(two, session, "write_file", { path, content: "over two servers" });
  expect(written.text).toContain("Wrote /home/shoal/note.txt");
  for (const server of [one, two])
    expect((await call(server, session, "read_file", { path })).text).toContain("over two servers");
});

it("answers 404 when the server of the connection has ended, so that the client begins again", async () => {
  const { session } = await connect(two);
  two.child.kill("SIGKILL");
  await expect.poll(async () => (await call(one, session, "close_browser", {})).status).toBe(404);
  expect((await connect(one)).status).toBe(200);
});
