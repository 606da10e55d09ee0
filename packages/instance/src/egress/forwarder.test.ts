import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { setTimeout } from "node:timers/promises";
import { waitLimitMs } from "@shoal/testkit";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createEgressFailures } from "./failures.ts";
import { startEgressForwarder, type EgressForwarder } from "./forwarder.ts";

let directory: string;
let path: string;
let gateway: Server;
let forwarder: EgressForwarder;
let onConnection: (socket: Socket) => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "shoal-e-"));
  path = join(directory, "egress");
  gateway = createServer({ allowHalfOpen: true }, (socket) => {
    onConnection(socket);
  });
  await new Promise<void>((resolve) => gateway.listen(path, resolve));
  forwarder = await startEgressForwarder(path);
});
afterEach(async () => {
  forwarder.close();
  gateway.close();
  await rm(directory, { recursive: true });
});

it("answers a client that has closed its sending side", async () => {
  onConnection = (socket) => {
    void buffer(socket).then((request) => socket.end(`got ${request.toString()}`));
  };
  const client = connect({ host: "127.0.0.1", port: forwarder.port, allowHalfOpen: true });
  client.end("hello");
  expect((await buffer(client)).toString()).toBe("got hello");
});

it("applies backpressure when the reader does not read", async () => {
  const accepted = Promise.withResolvers<Socket>();
  onConnection = (socket) => {
    socket.pause();
    accepted.resolve(socket);
  };
  const client = connect({ host: "127.0.0.1", port: forwarder.port });
  const block = Buffer.alloc(2 ** 20, 1);
  let sentBytes = 0;
  const blocked = Promise.withResolvers<undefined>();
  function send(): void {
    while (sentBytes < 200 * 2 ** 20) {
      sentBytes += block.length;
      if (!client.write(block)) break;
    }
    globalThis.setTimeout(() => {
      if (client.writableNeedDrain) blocked.resolve(undefined);
    }, 500);
  }
  client.on("drain", send);
  send();
  const socket = await accepted.promise;
  await blocked.promise;
  expect(sentBytes).toBeLessThan(50 * 2 ** 20);
  let receivedBytes = 0;
  socket.on("data", (chunk) => (receivedBytes += chunk.length));
  socket.resume();
  client.off("drain", send);
  client.end();
  await new Promise((resolve) => socket.on("end", resolve));
  expect(receivedBytes).toBe(sentBytes);
  socket.end();
});

it("drops the client when the gateway drops the connection, and vice versa", async () => {
  onConnection = (socket) => {
    socket.destroy();
  };
  const client = connect({ host: "127.0.0.1", port: forwarder.port });
  client.on("error", () => undefined);
  client.resume();
  await new Promise((resolve) => client.on("close", resolve));

  const accepted = Promise.withResolvers<Socket>();
  onConnection = (socket) => {
    accepted.resolve(socket);
  };
  const second = connect({ host: "127.0.0.1", port: forwarder.port });
  const socket = await accepted.promise;
  socket.on("error", () => undefined);
  socket.resume();
  second.resetAndDestroy();
  await new Promise((resolve) => socket.on("end", resolve));
  socket.destroy();
});

it("marks browser connections after the request line, however it is split, and reports connections without an answer", async () => {
  const failed: string[] = [];
  forwarder.onFailure((target) => failed.push(target));
  let seen = "";
  onConnection = (socket) => {
    seen = "";
    socket.on("data", (data: Buffer) => {
      seen += data.toString();
      if (seen.includes("refuse")) socket.end("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
      else if (seen.includes("drop")) socket.destroy();
      else if (seen.endsWith("\r\n\r\nbody")) socket.end("HTTP/1.1 200 OK\r\n\r\n");
    });
  };
  const exchange = async (...pieces: string[]) => {
    const client = connect({ host: "127.0.0.1", port: forwarder.browserPort, allowHalfOpen: true, noDelay: true });
    for (const piece of pieces) {
      client.write(piece);
      const betweenPiecesMs = 20;
      await setTimeout(betweenPiecesMs);
    }
    const answer = (await buffer(client)).toString();
    client.destroy();
    return answer;
  };
  expect(await exchange("POST http://a", ".example/x HTTP/1.1\r", "\nHost: a\r\n\r\nbo", "dy")).toContain("200 OK");
  expect(seen).toBe("POST http://a.example/x HTTP/1.1\r\nShoal-Egress-Client: browser=1\r\nHost: a\r\n\r\nbody");
  expect(failed).toEqual([]);
  expect(await exchange("CONNECT Refuse.example:443 HTTP/1.1\r\nHost: refuse\r\n\r\n")).toContain("403 Forbidden");
  expect(await exchange("GET http://drop.example/ HTTP/1.1\r\nHost: drop\r\n\r\n")).toBe("");
  expect(await exchange("GET http://[::1]:8080/drop HTTP/1.1\r\n\r\n")).toBe("");
  await expect.poll(() => failed).toEqual(["refuse.example:443", "drop.example:80", "[::1]:8080"]);
});

it("opens one port per proxy of browser contexts, and its connections name the proxy", async () => {
  let seen = "";
  onConnection = (socket) => {
    socket.on("data", (data: Buffer) => {
      seen += data.toString();
      if (seen.endsWith("\r\n\r\n")) socket.end("HTTP/1.1 200 OK\r\n\r\n");
    });
    socket.once("end", () => socket.end());
  };
  const proxy = { url: "http://proxy.example:3128", bypassHosts: ["a.example", "*.b.example"] };
  const port = await forwarder.portOf(proxy);
  expect(await forwarder.portOf({ ...proxy })).toBe(port);
  const ports = new Set([
    port,
    forwarder.browserPort,
    forwarder.port,
    await forwarder.portOf({ ...proxy, bypassHosts: [] }),
  ]);
  expect(ports.size).toBe(4);
  const client = connect({ host: "127.0.0.1", port });
  client.write("GET http://c.example/ HTTP/1.1\r\n\r\n");
  await buffer(client);
  const [, value] = /Shoal-Egress-Client: (\S+)\r\n/.exec(seen) ?? [];
  expect([...new URLSearchParams(value)]).toEqual([
    ["browser", "1"],
    ["proxy", proxy.url],
    ["bypass", "a.example"],
    ["bypass", "*.b.example"],
  ]);
  for (let count = 0; count < 63; count++)
    await forwarder.portOf({ url: `http://proxy${String(count)}.example`, bypassHosts: [] });
  const isRefused = () =>
    new Promise((resolve) => {
      const tried = connect({ host: "127.0.0.1", port });
      tried.once("connect", () => {
        tried.destroy();
        resolve(false);
      });
      tried.once("error", () => {
        resolve(true);
      });
    });
  let more = 0;
  await expect
    .poll(async () => {
      await forwarder.portOf({ url: `http://more${String(more++)}.example`, bypassHosts: [] });
      return isRefused();
    })
    .toBe(true);
});

it("reads the latest failure of a target from the gateway", async () => {
  let asked = 0;
  onConnection = (socket) => {
    let request = "";
    socket.on("data", (data: Buffer) => {
      request += data.toString();
      if (!request.endsWith("\r\n\r\n")) return;
      asked++;
      const failures = [
        { target: "a.example:80", status: 594, message: "new", age_ms: 5 },
        { target: "a.example:80", status: 403, message: "old", age_ms: 900 },
        { target: "b.example:80", status: 403, message: "too old", age_ms: 60_000 },
      ];
      socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n${JSON.stringify(failures)}`);
    });
  };
  const failures = createEgressFailures(path, waitLimitMs);
  const all = await Promise.all(
    ["A.example:80", "b.example:80", "c.example:80", "c.example:80"].map((target) => failures.of(target)),
  );
  expect(all.map((failure) => failure?.message)).toEqual(["new", undefined, undefined, undefined]);
  expect(asked).toBe(2);
  onConnection = (socket) => socket.destroy();
  expect(await failures.of("a.example:80")).toBeUndefined();
});

it("drops a client when the gateway is missing", async () => {
  await new Promise((resolve) => gateway.close(resolve));
  const client = connect({ host: "127.0.0.1", port: forwarder.port });
  client.on("error", () => undefined);
  await new Promise((resolve) => client.on("close", resolve));
});
