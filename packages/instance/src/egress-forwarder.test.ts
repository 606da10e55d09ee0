import { mkdtemp, rm } from "node:fs/promises";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startEgressForwarder, type EgressForwarder } from "./egress-forwarder.ts";

let directory: string;
let gateway: Server;
let forwarder: EgressForwarder;
let onConnection: (socket: Socket) => void;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "shoal-e-"));
  const path = join(directory, "egress");
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

it("answers a client that has shut its own side", async () => {
  onConnection = (socket) => {
    void buffer(socket).then((request) => socket.end(`got ${request.toString()}`));
  };
  const client = connect({ host: "127.0.0.1", port: forwarder.port, allowHalfOpen: true });
  client.end("hello");
  expect((await buffer(client)).toString()).toBe("got hello");
});

it("makes a sender wait for a reader that does not read", async () => {
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
    setTimeout(() => {
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

it("drops the client when the gateway drops the connection, and the reverse", async () => {
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

it("answers for a gateway that hangs up on a tunnel, and remembers what was refused", async () => {
  const tunnelTo = async (target: string, answer: string | undefined) => {
    onConnection = (socket) => {
      socket.once("data", () => (answer === undefined ? socket.destroy() : socket.end(answer)));
    };
    const client = connect({ host: "127.0.0.1", port: forwarder.port, allowHalfOpen: true });
    client.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
    const [line] = (await buffer(client)).toString().split("\r\n");
    client.destroy();
    return [line, forwarder.refusedTunnel(target.toLowerCase())];
  };
  expect(await tunnelTo("Closed.test:443", undefined)).toEqual(["HTTP/1.1 596 No Answer", 596]);
  expect(await tunnelTo("private.test:443", "HTTP/1.1 403 Forbidden\r\n\r\n")).toEqual(["HTTP/1.1 403 Forbidden", 403]);
  expect(await tunnelTo("open.test:443", "HTTP/1.1 200 OK\r\n\r\n")).toEqual(["HTTP/1.1 200 OK", undefined]);
});

it("drops a client when there is no gateway", async () => {
  await new Promise((resolve) => gateway.close(resolve));
  const client = connect({ host: "127.0.0.1", port: forwarder.port });
  client.on("error", () => undefined);
  await new Promise((resolve) => client.on("close", resolve));
});
