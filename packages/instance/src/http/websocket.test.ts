import { AutomationPause } from "../pause/automation-pause.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo, Socket } from "node:net";
import { expect, it } from "vitest";
import { WebSocket } from "ws";
import { acceptViewer } from "../clients/live-view/viewer-socket.ts";
import { attachTo } from "../operations/process/attach.ts";
import type { NamedProcess } from "../operations/process/named-process.ts";
import type { IncomingMessage } from "node:http";

type Accept = (request: IncomingMessage, socket: Socket, head: Buffer) => void;

const never = new Promise<never>(() => undefined);
const terminal = {
  resize: () => true,
  write: () => never,
  output: { read: () => ({ next: () => never, return: () => Promise.resolve({ done: true, value: undefined }) }) },
} as unknown as NamedProcess;

const sockets: Record<string, Accept> = {
  "a live view": (request, socket, head) => {
    acceptViewer(request, socket, head, { message: () => undefined, closed: () => undefined });
  },
  "a terminal": (request, socket, head) => {
    const path = "/process/p1/attach";
    expect(
      attachTo(request, socket, head, {
        path,
        pause: new AutomationPause(() => () => undefined),
        processes: { find: () => terminal },
      }),
    ).toBeUndefined();
  },
};

async function closeCodeOf(accept: Accept, act: (client: WebSocket) => void): Promise<number> {
  const server = createServer();
  server.on("upgrade", accept as (...given: unknown[]) => void);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  try {
    const client = new WebSocket(`ws://127.0.0.1:${String((server.address() as AddressInfo).port)}`);
    await once(client, "open");
    act(client);
    const [code] = (await once(client, "close")) as [number];
    return code;
  } finally {
    server.close();
  }
}

for (const [name, accept] of Object.entries(sockets)) {
  it(`closes ${name} with 1007 when a text message is invalid UTF-8`, async () => {
    expect(
      await closeCodeOf(accept, (client) => {
        client.send(Buffer.from([0xc3, 0x28]), { binary: false });
      }),
    ).toBe(1007);
  });

  it(`answers a client that closes ${name} with the same code`, async () => {
    expect(
      await closeCodeOf(accept, (client) => {
        client.close(3001, "done");
      }),
    ).toBe(3001);
  });

  it(`closes ${name} with 1009 when a message is too long`, async () => {
    expect(
      await closeCodeOf(accept, (client) => {
        client.send("x".repeat(2 * 1024 * 1024));
      }),
    ).toBe(1009);
  });
}
