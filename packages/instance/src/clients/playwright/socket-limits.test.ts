import { execFile } from "node:child_process";
import { once } from "node:events";
import { createServer, type AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";

let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.on("error", () => undefined).end("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok");
});
let port = 0;
beforeAll(async () => {
  await once(server.listen(0, "127.0.0.1"), "listening");
  ({ port } = server.address() as AddressInfo);
});
afterAll(() => {
  server.close();
});

/** In another process: the limits are of a whole process. */
async function connecting(code: string, allowed: number): Promise<string> {
  const module = JSON.stringify(join(import.meta.dirname, "socket-limits.ts"));
  const program = `
    const { SocketLimits } = await import(${module});
    const limits = new SocketLimits();
    limits.allow(${String(allowed)});
    limits.apply();
    const port = ${String(port)};
    const [net, tls, http, http2] = await Promise.all(["net", "tls", "http", "http2"].map((name) => import("node:" + name)));
    const socketOf = (socket) => new Promise((resolve) => socket.on("connect", () => resolve("connected")).on("error", (e) => resolve(e.message)));
    const text = await (${code});
    console.log(text);
    process.exit();`;
  const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "--eval", program]);
  return stdout.trim();
}

it.each([
  "socketOf(net.connect({ host: '127.0.0.1', port }))",
  "fetch(`http://127.0.0.1:${port}`).then((answer) => answer.status, (e) => e.cause.message)",
])("lets %s reach a named port", async (code) => {
  const before = connections;
  expect(await connecting(code, port)).toMatch(/connected|200/);
  await expect.poll(() => connections).toBe(before + 1);
});

it.each([
  "socketOf(net.connect({ host: '127.0.0.1', port }))",
  "socketOf(net.connect(port, '127.0.0.1'))",
  "socketOf(net.connect(port))",
  "socketOf(new net.Socket().connect(port, '127.0.0.1'))",
  "socketOf(new net.Socket().connect({ port, host: '127.0.0.1' }))",
  "socketOf(tls.connect({ host: '127.0.0.1', port }))",
  "socketOf(http.get({ host: '127.0.0.1', port }))",
  "socketOf(http2.connect(`http://127.0.0.1:${port}`))",
  "fetch(`http://127.0.0.1:${port}`).then((answer) => answer.status, (e) => e.cause.message)",
  `socketOf(net.connect(${JSON.stringify(join(tmpdir(), "any.sock"))}))`,
])("refuses connections that the instance did not name: %s", async (code) => {
  const before = connections;
  // A session of HTTP/2 reports a connection before it has one.
  expect(await connecting(code, 1)).toMatch(code.includes("http2") ? /connected|network rules/ : /network rules/);
  expect(connections).toBe(before);
});

it.each([
  "socketOf(net.connect({ host: 'localhost', port }))",
  "socketOf(net.connect({ host: '127.0.0.2', port }))",
  "socketOf(net.connect({ host: '::1', port }))",
  "socketOf(net.connect({ port, path: '/tmp/any.sock', host: '127.0.0.1' }))",
])("refuses other hosts and sockets with the named port: %s", async (code) => {
  const before = connections;
  expect(await connecting(code, port)).toContain("network rules");
  expect(connections).toBe(before);
});
