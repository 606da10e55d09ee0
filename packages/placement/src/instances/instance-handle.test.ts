import type { Box } from "../boxes/box.ts";
import { connectInstance } from "./instance-connection.ts";
import { InstanceHandle } from "./instance-handle.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";

const headMs = 300;
let server: Server;
let handle: InstanceHandle;
let answer: (socket: Socket) => void;
const sockets = new Set<Socket>();

function boxOf(gone: PromiseWithResolvers<{ code: number; signal: null }>): Box {
  return {
    id: "hostile",
    pid: process.pid,
    stdout: new PassThrough(),
    stderr: new PassThrough(),
    gone: gone.promise,
    reach: () => Promise.resolve(""),
    egress: {
      setUpstream: () => undefined,
      setPrivateHosts: () => undefined,
      setProject: () => undefined,
      transferred: () => ({ sentBytes: 0, receivedBytes: 0 }),
      setRules: () => undefined,
      setProxyRoutes: () => undefined,
      setSigner: () => undefined,
      setHeaders: () => undefined,
    },
    setPolicies: () => Promise.resolve("0"),
    setMemory: () => Promise.resolve(),
    kill: () => {
      gone.resolve({ code: 0, signal: null });
    },
    clear: () => Promise.resolve(),
    asksToEnd: false,
  };
}

beforeEach(async () => {
  const socketPath = join(await temporaryDirectory(), "socket");
  server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      if (chunk.toString().startsWith("GET /_instance/events")) socket.write("HTTP/1.1 200 OK\r\n\r\n");
      else {
        sockets.add(socket);
        socket.once("close", () => sockets.delete(socket));
        answer(socket);
      }
    });
  }).listen(socketPath);
  await once(server, "listening");
  const silent = () => undefined;
  handle = new InstanceHandle({
    box: boxOf(Promise.withResolvers()),
    kind: "process",
    dial: () => connectInstance(socketPath),
    log: { debug: silent, info: silent, warn: silent, error: silent },
    lastLines: () => "",
    headMs,
  });
});
afterEach(async () => {
  await handle.stop();
  server.close();
});

const ask = () => handle.request({ method: "GET", path: "/fs/read_file" });
const statuses: readonly (readonly [string, string])[] = ["000", "099", "600", "999"].map((status) => [
  `status ${status}`,
  `HTTP/1.1 ${status} Odd\r\nContent-Length: 0\r\n\r\n`,
]);

it.each<readonly [string, string]>([
  ...statuses,
  ["a 1xx", "HTTP/1.1 103 Early Hints\r\n\r\n".repeat(100)],
  ["a 101", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"],
  ["a 101 without an upgrade", "HTTP/1.1 101 Switching Protocols\r\n\r\n"],
  ["something other than HTTP", "SSH-2.0-OpenSSH_9.2\r\n\r\n"],
  ["a head without end", `HTTP/1.1 200 OK\r\nX-Long: ${"x".repeat(40_000)}`],
  ["a length and chunks", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"],
  ["a head that it never finishes", "HTTP/1.1 200 OK\r\nX-"],
])("rejects %s, and closes the connection", async (_what, bytes) => {
  answer = (socket) => socket.write(bytes);
  await expect(ask()).rejects.toMatchObject({ code: "instance_lost" });
  await expect.poll(() => sockets.size).toBe(0);
});

it("rejects a head that arrives too slowly", async () => {
  answer = (socket) => {
    const timer = setInterval(() => socket.write("x"), 20);
    socket.once("close", () => {
      clearInterval(timer);
    });
    socket.write("HTTP/1.1 200 OK\r\nX-Slow: ");
  };
  await expect(ask()).rejects.toMatchObject({
    code: "instance_lost",
    message: expect.stringContaining("did not finish the head of its answer") as unknown,
  });
  await expect.poll(() => sockets.size).toBe(0);
});

it("reads an answer of single bytes slowly, in few chunks, so that it cannot block the main thread", async () => {
  answer = (socket) => {
    const part = "1\r\nx\r\n".repeat(1000);
    socket.write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    const send = (): void => {
      while (!socket.destroyed && socket.write(part));
    };
    socket.on("drain", send);
    send();
  };
  const beganMs = performance.now();
  const reply = await handle.request({ method: "GET", path: "/" });
  let [bytes, chunks] = [0, 0];
  for await (const chunk of reply as AsyncIterable<Buffer>) {
    chunks += 1;
    bytes += chunk.length;
    if (bytes > 60_000) break;
  }
  expect(chunks).toBeLessThan(200);
  expect(performance.now() - beganMs).toBeGreaterThan(1000);
});

it("waits for a late answer and for a slow body", async () => {
  answer = (socket) => {
    setTimeout(() => socket.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\no"), headMs * 1.5);
    setTimeout(() => socket.write("k"), headMs * 3);
  };
  expect(await text(await ask())).toBe("ok");
});

it("ends a stopped instance, and the calls and connections that wait for it", async () => {
  const socketPath = join(await temporaryDirectory(), "socket");
  const program = `
    const { createServer } = require("node:http");
    createServer((_, response) => response.end("{}")).listen(process.argv[1], () => console.log("listening"));`;
  const child = spawn(process.execPath, ["-e", program, socketPath], { stdio: ["ignore", "pipe", "inherit"] });
  await once(child.stdout, "data");
  child.kill("SIGSTOP");
  const gone = Promise.withResolvers<{ code: number; signal: null }>();
  child.once("exit", () => {
    gone.resolve({ code: 0, signal: null });
  });
  const warnings: string[] = [];
  const silent = () => undefined;
  const stopped = new InstanceHandle({
    box: { ...boxOf(gone), kill: () => child.kill("SIGKILL") },
    kind: "process",
    dial: () => connectInstance(socketPath),
    log: { debug: silent, info: silent, warn: (_, message) => warnings.push(message), error: silent },
    lastLines: () => "",
    silentMs: 20,
  });
  const connection = await stopped.connect();
  connection.on("error", () => undefined).resume();
  const closed = new Promise((resolve) => connection.once("close", resolve));
  await expect(stopped.request({ method: "GET", path: "/fs/read_file" })).rejects.toMatchObject({
    code: "instance_lost",
  });
  await closed;
  const why = "it answered nothing for 0.06 s. A program of the session may have stopped it.";
  expect(await stopped.ended).toEqual({ reason: "instance_lost", detail: expect.stringContaining(why) as unknown });
  expect(warnings).toEqual([expect.stringContaining(why)]);
});
