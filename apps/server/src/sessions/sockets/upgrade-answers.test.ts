import { Browser } from "@shoal/schemas";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type HostileInstances, startHostileInstances } from "../../testing/hostile-instance.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const key = "dGhlIHNhbXBsZSBub25jZQ==";
const handshake = {
  connection: "Upgrade",
  upgrade: "websocket",
  "sec-websocket-version": "13",
  "sec-websocket-key": key,
};
const accept = createHash("sha1").update(`${key}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`).digest("base64");
const switching = `HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n`;

let instances: HostileInstances;
let server: TestServer;
let session: Browser;
beforeAll(async () => {
  instances = await startHostileInstances();
  server = await startTestServer({}, { aroundPlacement: instances.around });
  session = Browser.parse((await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } })).body);
});
afterAll(async () => {
  await server.close();
  await instances.close();
});
beforeEach(() => {
  instances.received.length = 0;
});

/** `/browsers/{id}/cdp?jwt=…` */
const cdpPath = () => session.cdp_ws_url.slice(session.cdp_ws_url.indexOf("/browsers"));
const head = (path: string, more = "") =>
  `GET ${path} HTTP/1.1\r\nHost: shoal.test\r\n${Object.entries(handshake)
    .map(([name, value]) => `${name}: ${value}\r\n`)
    .join("")}${more}\r\n`;

async function dial(): Promise<{ socket: Socket; received: () => string; closed: Promise<unknown> }> {
  const socket = connect(Number(new URL(server.baseUrl).port), "127.0.0.1");
  let received = "";
  socket.on("data", (chunk: Buffer) => (received += chunk.toString("latin1"))).on("error", () => undefined);
  await once(socket, "connect");
  return { socket, received: () => received, closed: once(socket, "close") };
}

/** A reverse proxy that reuses its one upstream connection unless the answer closes it. */
async function startPoolingProxy(upstream: string): Promise<{ baseUrl: string; close(): void }> {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const ask = ({ headers, method, url }: IncomingMessage) =>
    httpRequest({
      agent,
      host: "127.0.0.1",
      port: new URL(upstream).port,
      method,
      path: url,
      headers: { ...headers, host: "inner" },
    });
  const proxy: Server = createServer((request, response) => {
    const onward = ask(request).on("error", () => response.writeHead(502).end());
    onward.on("response", (answer) =>
      answer.pipe(response.writeHead(answer.statusCode ?? 502, { "x-request-id": answer.headers["x-request-id"] })),
    );
    request.pipe(onward);
  });
  proxy.on("upgrade", (request: IncomingMessage, client: Duplex) => {
    const onward = ask(request).on("error", () => client.destroy());
    onward.on("upgrade", (_answer, inner) => {
      inner.destroy();
      client.destroy();
    });
    onward.on("response", (answer) => {
      answer
        .resume()
        .on("end", () => client.end(`HTTP/1.1 ${String(answer.statusCode)} Refused\r\nConnection: close\r\n\r\n`));
    });
    onward.end();
  });
  proxy.listen(0, "127.0.0.1");
  await once(proxy, "listening");
  return {
    baseUrl: `http://127.0.0.1:${String((proxy.address() as AddressInfo).port)}`,
    close() {
      agent.destroy();
      proxy.closeAllConnections();
      proxy.close();
    },
  };
}

async function refused(
  path: string,
  base = server.baseUrl,
): Promise<{ status: number | undefined; connection: string | undefined; body: string }> {
  const request = httpRequest(base + path, { headers: handshake, agent: false }).end();
  const [answer] = (await once(request, "response")) as [IncomingMessage];
  return { status: answer.statusCode, connection: answer.headers.connection, body: await text(answer) };
}

describe("an instance that does not accept a WebSocket", () => {
  it("never gets the connection that a proxy keeps for the next tenant", async () => {
    const proxy = await startPoolingProxy(server.baseUrl);
    instances.answer = (socket) =>
      socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok");
    try {
      expect(await refused(cdpPath(), proxy.baseUrl)).toMatchObject({ status: 502 });
      const answer = await fetch(`${proxy.baseUrl}/projects`, { headers: { authorization: `Bearer ${server.key}` } });
      expect([answer.status, (await answer.json()) as unknown]).toEqual([200, expect.any(Array)]);
      expect(instances.received.join("")).not.toContain(server.key);
    } finally {
      proxy.close();
    }
    await expect.poll(() => instances.connections()).toBe(0);
  });

  it.each([
    ["a 200 that keeps the connection", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok"],
    ["a 200 that claims an upgrade", `HTTP/1.1 200 OK\r\n${switching.slice(switching.indexOf("Upgrade"))}\r\n`],
    ["a 101 without an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
    ["a 101 to another protocol", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: h2c\r\nConnection: Upgrade\r\n\r\n"],
    ["a 101 for another handshake", switching.replace(accept, "AAAAAAAAAAAAAAAAAAAAAAAAAAA=") + "\r\n"],
    ["a 101 with an extension", `${switching}Sec-WebSocket-Extensions: permessage-deflate\r\n\r\n`],
    ["endless 1xx", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(50)],
    ["something other than HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok"],
    ["an invalid status", "HTTP/1.1 999 Odd\r\nContent-Length: 0\r\n\r\n"],
    ["an endless head", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(40_000)}`],
    ["an endless body", `HTTP/1.1 404 Not Found\r\n\r\n${"x".repeat(40_000)}`],
    ["a redirect", "HTTP/1.1 302 Found\r\nLocation: https://attacker.example/\r\nContent-Length: 0\r\n\r\n"],
  ])("is replaced by a 502 after %s, and both connections end", async (_what, bytes) => {
    instances.answer = (socket) => socket.write(bytes);
    const client = await dial();
    client.socket.write(head(cdpPath()) + head("/projects", `Authorization: Bearer ${server.key}\r\n`));
    await client.closed;
    expect(client.received().match(/HTTP\/1\.1 \d+/g)).toEqual(["HTTP/1.1 502"]);
    expect(client.received()).toMatch(/Connection: close[^]*"code":"bad_gateway"/);
    expect(client.received()).not.toMatch(/attacker|Early Hints|x{100}/);
    expect(instances.received.join("")).not.toContain(server.key);
    await expect.poll(() => instances.connections()).toBe(0);
  });

  it("passes on field, limit and hint of an error answer, each bounded", async () => {
    const error = {
      code: "bad_request",
      message: "The process has no terminal. Start it with allocate_tty.",
      limit: 1,
      hint: "Start it with allocate_tty.",
    };
    const answerWith = (body: object): void => {
      const bytes = JSON.stringify(body);
      instances.answer = (socket) =>
        socket.write(`HTTP/1.1 400 Bad Request\r\nContent-Length: ${String(Buffer.byteLength(bytes))}\r\n\r\n${bytes}`);
    };
    answerWith(error);
    const { body, status } = await refused(cdpPath());
    expect([status, JSON.parse(body)]).toEqual([400, error]);
    answerWith({ ...error, hint: "x".repeat(10_000), field: "y".repeat(3_000) });
    expect((await refused(cdpPath())).body.length).toBeLessThan(5_000);
  });

  it("passes on an error answer with Retry-After as its only header", async () => {
    const body = JSON.stringify({ code: "too_many_requests", message: "64 clients are connected." });
    instances.answer = (socket) =>
      socket.write(
        `HTTP/1.1 429 Odd\r\nContent-Type: text/html\r\nSet-Cookie: a=b\r\nRetry-After: 3\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      );
    const client = await dial();
    client.socket.write(head(cdpPath()));
    await client.closed;
    expect(client.received()).toMatch(
      /^HTTP\/1\.1 429 Too Many Requests\r\nContent-Type: application\/json[^]*Retry-After: 3\r\n[^]*64 clients/,
    );
    expect(client.received()).not.toMatch(/set-cookie|text\/html/i);
  });
});

describe("an accepted WebSocket", () => {
  it("carries the bytes of both sides, and only the headers of the handshake", async () => {
    instances.answer = (socket, request) => {
      if (request.startsWith("GET /cdp")) socket.write(`${switching}Set-Cookie: a=b\r\nX-Own: 1\r\n\r\nfrom the box`);
    };
    const client = await dial();
    const secrets =
      "Authorization: Bearer secret\r\nCookie: c=secret\r\nCf-Access-Jwt-Assertion: secret\r\nX-Amzn-Oidc-Data: secret\r\n";
    client.socket.write(
      head(
        cdpPath(),
        `${secrets}X-Forwarded-For: 203.0.113.5\r\nSec-WebSocket-Extensions: permessage-deflate\r\nOrigin: https://a.example\r\n`,
      ),
    );
    await expect.poll(() => client.received()).toContain("from the box");
    expect(client.received().split("\r\n\r\n")[0]?.split("\r\n")).toEqual(switching.trim().split("\r\n"));
    client.socket.write("from the client");
    await expect.poll(() => instances.received.join("")).toContain("from the client");
    const names = (instances.received.find((request) => request.startsWith("GET /cdp")) ?? "")
      .split("\r\n\r\n")[0]
      ?.split("\r\n")
      .slice(1)
      .map((line) => line.split(":")[0]?.toLowerCase());
    expect(names?.toSorted()).toEqual([
      "connection",
      "host",
      "sec-websocket-key",
      "sec-websocket-version",
      "upgrade",
      "x-request-id",
    ]);
    client.socket.destroy();
    await expect.poll(() => instances.connections()).toBe(0);
  });

  it("is refused with two Host headers", async () => {
    const client = await dial();
    client.socket.write(head(cdpPath(), "Host: other.test\r\n"));
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 400 [^]*several Host headers/);
  });
});

it("keeps the socket of a link that is valid for 30 days", async () => {
  instances.answer = (socket) => {
    socket.write(`${switching}\r\n`);
    socket.on("data", (chunk: Buffer) => socket.write(chunk));
  };
  const body = { expires_in_seconds: 2_592_000 };
  const link = await server.request("POST", `/browsers/${session.session_id}/live_view_links`, { body });
  const { url } = link.body as { url: string };
  const warnings: Error[] = [];
  const note = (warning: Error) => warnings.push(warning);
  process.on("warning", note);
  const client = await dial();
  try {
    client.socket.write(head(`${new URL(url).pathname}/socket`));
    await expect.poll(client.received).toContain("101 Switching");
    // An empty ping of WebSocket.
    const ping = Buffer.from([0x89, 0x80, 0, 0, 0, 0]).toString("latin1");
    for (let count = 1; count <= 10; count++) {
      client.socket.write(ping, "latin1");
      await expect.poll(client.received).toContain(ping.repeat(count));
    }
    expect(warnings).toEqual([]);
  } finally {
    process.off("warning", note);
    client.socket.destroy();
  }
});
