import { once } from "node:events";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import type { Duplex } from "node:stream";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { serveCdpPort } from "./cdp-port.ts";

const targetAt = (baseUrl: string) => ({ baseUrl, socketsUrl: baseUrl.replace("http", "ws"), token: "token" });

it("closes while a client is connected that has sent nothing", async () => {
  const served = await serveCdpPort(targetAt("http://127.0.0.1:1"), 0);
  const silent = connect(served.port, "127.0.0.1");
  await once(silent, "connect");
  const ended = once(silent, "close");
  // A request of a later connection shows that the first one was accepted.
  const response = await fetch(`http://127.0.0.1:${String(served.port)}/`);
  expect(response.status).toBe(404);
  await served.close();
  await ended;
});

it("disconnects from the service if the client leaves before the answer", async () => {
  await using service = createServer().listen(0, "127.0.0.1");
  await once(service, "listening");
  const asked = once(service, "upgrade") as Promise<[unknown, Duplex]>;
  const { port } = service.address() as AddressInfo;
  const served = await serveCdpPort(targetAt(`http://127.0.0.1:${String(port)}`), 0);
  const client = connect(served.port, "127.0.0.1");
  client.write(
    "GET /cdp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\n",
  );
  const [, atService] = await asked;
  const left = once(atService, "end");
  atService.resume();
  client.destroy();
  await left;
  atService.destroy();
  await served.close();
});

it("passes on bytes in both directions, also those before the answer", async () => {
  await using service = createServer().listen(0, "127.0.0.1");
  await once(service, "listening");
  const asked = once(service, "upgrade") as Promise<[unknown, Duplex]>;
  const { port } = service.address() as AddressInfo;
  const served = await serveCdpPort(targetAt(`http://127.0.0.1:${String(port)}`), 0);
  const client = connect(served.port, "127.0.0.1");
  client.write(
    "GET /cdp HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: a\r\n\r\nearly ",
  );
  const [, atService] = await asked;
  client.write("late");
  atService.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nfirst ");
  let received = "";
  atService.on("data", (chunk: Buffer) => {
    received += chunk.toString();
    if (received === "early late") atService.end("second");
  });
  expect((await text(client)).split("\r\n\r\n")[1]).toBe("first second");
  expect(received).toBe("early late");
  await served.close();
});
