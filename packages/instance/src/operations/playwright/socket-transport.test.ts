import type { AddressInfo } from "node:net";
import { once } from "node:events";
import { expect, it, onTestFinished } from "vitest";
import { WebSocketServer } from "ws";
import { connectTransport } from "./socket-transport.ts";

async function listening(): Promise<{ readonly server: WebSocketServer; readonly address: string }> {
  const server = new WebSocketServer({ host: "127.0.0.1", port: 0 });
  onTestFinished(() => {
    server.close();
  });
  await once(server, "listening");
  return { server, address: `ws://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

it("lets promises settle between two messages that arrive together", async () => {
  const { address, server } = await listening();
  server.on("connection", (socket, { socket: tcp }) => {
    socket.on("message", () => {
      tcp.cork();
      socket.send('{"id":1}');
      socket.send('{"id":2}');
      tcp.uncork();
    });
  });
  const transport = await connectTransport(address);
  const order: unknown[] = [];
  const both = new Promise<void>((resolve) => {
    transport.onmessage = (message) => {
      const { id } = message as { readonly id: number };
      order.push(`message ${String(id)}`);
      void Promise.resolve()
        .then(() => order.push(`promise ${String(id)}`))
        .then(() => {
          if (id === 2) resolve();
        });
    };
  });
  transport.send({ id: 0 });
  await both;
  expect(order).toEqual(["message 1", "promise 1", "message 2", "promise 2"]);
  await transport.close();
});

it("is closed when the other side knows", async () => {
  const { address, server } = await listening();
  let isClosed = false;
  server.on("connection", (socket) => socket.on("close", () => (isClosed = true)));
  const transport = await connectTransport(address);
  await transport.close();
  expect(isClosed).toBe(true);
});

it("shows the sent headers without the proxy", async () => {
  const { address, server } = await listening();
  const event = (headers: object) => ({ method: "Network.requestWillBeSentExtraInfo", params: { headers } });
  server.on("connection", (socket) => {
    socket.on("message", () => {
      socket.send(JSON.stringify(event({ Host: "a.example", "Proxy-Connection": "keep-alive" })));
    });
  });
  const transport = await connectTransport(address);
  const received = new Promise((resolve) => {
    transport.onmessage = resolve;
  });
  transport.send({ id: 0 });
  expect(await received).toEqual(event({ Host: "a.example", Connection: "keep-alive" }));
  await transport.close();
});
