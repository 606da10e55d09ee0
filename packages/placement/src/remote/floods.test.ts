import { remoteProtocols } from "@shoal/instance";
import { TlsIdentity } from "@shoal/primitives/pinned-tls";
import { once } from "node:events";
import { type AddressInfo, createServer as createPlainServer, type Socket } from "node:net";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { createServer, type TLSSocket } from "node:tls";
import { expect, it, onTestFinished, vi } from "vitest";
import { temporaryDirectory } from "../testing/placements.ts";
import { EgressLink } from "./egress-link.ts";
import { FrameRate } from "./frame-rate.ts";
import { connectRemote, type RemoteAddress } from "./remote-connection.ts";

const service = new TlsIdentity("service");
const hostile = new TlsIdentity("hostile");

/** A program that took its instance over. */
async function hostileInstance(protocol: string, act: (socket: TLSSocket) => void): Promise<RemoteAddress> {
  const server = createServer(
    {
      ...hostile.credentials,
      minVersion: "TLSv1.3",
      requestCert: true,
      rejectUnauthorized: false,
      ALPNProtocols: [protocol],
    },
    (socket) => {
      socket.on("error", () => undefined);
      onTestFinished(() => {
        socket.destroy();
      });
      act(socket);
    },
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.close();
  });
  return { host: "127.0.0.1", port: (server.address() as AddressInfo).port, pin: hostile.pin };
}

it("reads a connection of very many small records slowly, and unchanged", async () => {
  const [records, recordBytes] = [45_000, 512];
  const content = Buffer.alloc(records * recordBytes, "0123456789");
  const address = await hostileInstance(remoteProtocols.instance, (socket) => {
    socket.setMaxSendFragment(recordBytes);
    socket.end(content);
  });
  const beganMs = performance.now();
  const socket = await connectRemote(address, service, remoteProtocols.instance);
  const chunks = (await socket.toArray()) as Buffer[];
  expect(Buffer.concat(chunks).equals(content)).toBe(true);
  expect(chunks.length).toBeLessThan(records / 4);
  expect(performance.now() - beganMs).toBeGreaterThan(1_500);
});

const frameTypes = { data: 0, headers: 1, settings: 4, windowUpdate: 8 } as const;
const windowBytes = 65_535;

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

/** A header of HPACK without a table. */
function header(name: string, value: string): Buffer {
  return Buffer.concat([Buffer.of(0, name.length), Buffer.from(name), Buffer.of(value.length), Buffer.from(value)]);
}

/** Sends frames of one byte in one stream, as many as the windows allow. */
function floodFrames(socket: TLSSocket): void {
  let [connection, stream] = [windowBytes, windowBytes];
  let received = Buffer.alloc(0);
  const many = Buffer.concat(Array.from({ length: 1_000 }, () => frame(frameTypes.data, 0, 1, Buffer.from("x"))));
  const send = (): void => {
    while (connection >= 1_000 && stream >= 1_000 && !socket.writableNeedDrain) {
      connection -= 1_000;
      stream -= 1_000;
      socket.write(many);
    }
  };
  const take = (type: number, flags: number, of: number, payload: Buffer): void => {
    if (type === frameTypes.windowUpdate && of === 0) connection += payload.readUInt32BE(0);
    else if (type === frameTypes.windowUpdate) stream += payload.readUInt32BE(0);
    else if (type === frameTypes.settings && flags === 0) {
      for (let at = 0; at < payload.length; at += 6)
        if (payload.readUInt16BE(at) === 4) stream += payload.readUInt32BE(at + 2) - windowBytes;
      socket.write(frame(frameTypes.settings, 1, 0, Buffer.alloc(0)));
    }
  };
  socket.on("data", (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const end = 9 + received.readUIntBE(0, 3);
      take(received[3] ?? 0, received[4] ?? 0, received.readUInt32BE(5), received.subarray(9, end));
      received = received.subarray(end);
    }
    send();
  });
  socket.on("drain", send);
  socket.write("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n");
  socket.write(frame(frameTypes.settings, 0, 0, Buffer.alloc(0)));
  const connect = Buffer.concat([header(":method", "CONNECT"), header(":authority", "egress")]);
  socket.write(frame(frameTypes.headers, 4, 1, connect));
}

it("reads tiny frames of an egress link slowly, or closes it", async () => {
  const path = join(await temporaryDirectory(), "egress");
  let bytes = 0;
  const enough = Promise.withResolvers<void>();
  const gateway = createPlainServer((socket: Socket) => {
    socket.on("error", () => undefined);
    socket.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes >= 100_000) enough.resolve();
    });
  });
  await once(gateway.listen(path), "listening");
  onTestFinished(() => {
    gateway.close();
  });
  const closed = Promise.withResolvers<void>();
  const address = await hostileInstance(remoteProtocols.egress, (socket) => {
    socket.once("close", () => {
      closed.resolve();
    });
    floodFrames(socket);
  });
  const beganMs = performance.now();
  const link = new EgressLink({ address, identity: service, sockets: { egress: path } });
  link.open();
  await Promise.race([closed.promise, enough.promise]);
  link.close();
  if (bytes >= 100_000) expect(performance.now() - beganMs).toBeGreaterThan(3_500);
});

it("cuts off a connection that sends on in streams that are not read", () => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  let floods = 0;
  const rate = new FrameRate(() => (floods += 1));
  const streams = [new PassThrough(), new PassThrough()];
  for (const stream of streams) rate.follow(stream);
  const send = (frames: number): void => {
    for (let frame = 0; frame < frames; frame++) streams[frame % 2]?.push(Buffer.from("x"));
  };
  send(120_000);
  expect(floods).toBe(0);
  send(1);
  expect(floods).toBe(1);
});
