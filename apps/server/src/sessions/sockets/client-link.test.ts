import { eventually, eventuallyPasses } from "@shoal/testkit";
import { encodeClose, encodeFrame, opcode } from "@shoal/instance";
import type { InstanceSleep, SleepChange } from "@shoal/placement";
import fc from "fast-check";
import { type Duplex, duplexPair } from "node:stream";
import { expect, it, onTestFinished, vi } from "vitest";
import { socketPair } from "../../testing/socket-pair.ts";
import { ClientLink } from "./client-link.ts";
import { splice } from "./splice.ts";

interface Linked {
  readonly client: Duplex;
  readonly instance: Duplex;
  readonly link: ClientLink;
  /** Resolves when the service has closed both sides. */
  readonly closed: () => Promise<void>;
  readonly onTimeout: ReturnType<typeof vi.fn<() => void>>;
}

function linked(timeoutMs: number, sleep?: InstanceSleep): Linked {
  const [client, clientFar] = duplexPair();
  const [instance, instanceFar] = duplexPair();
  for (const side of [client, instance]) side.on("error", () => undefined);
  return { client, instance, ...linkedAt(clientFar, instanceFar, timeoutMs, sleep) };
}

function linkedAt(clientFar: Duplex, instanceFar: Duplex, timeoutMs: number, sleep?: InstanceSleep) {
  splice(clientFar, instanceFar, () => {
    if (!clientFar.writableEnded) clientFar.end();
    return Promise.resolve();
  });
  const onTimeout = vi.fn<() => void>();
  const link = new ClientLink({
    client: clientFar,
    inner: instanceFar,
    sent: Buffer.alloc(0),
    timeoutMs,
    onTimeout,
    ...(sleep && { sleep }),
  });
  const closed = () =>
    eventuallyPasses(() => {
      expect([clientFar.destroyed, instanceFar.destroyed]).toEqual([true, true]);
    });
  return { link, closed, onTimeout };
}

interface Frame {
  readonly code: number;
  readonly isFinal: boolean;
  readonly payload: Buffer;
}

/** Reads the frames of a server from any number of bytes. */
function framesIn(bytes: Buffer): Frame[] {
  const frames: Frame[] = [];
  for (let at = 0; at < bytes.length;) {
    const [first = 0, length = 0] = bytes.subarray(at);
    const start = at + (length === 126 ? 4 : length === 127 ? 10 : 2);
    const size = length === 126 ? bytes.readUInt16BE(at + 2) : length === 127 ? bytes.readUInt32BE(at + 6) : length;
    frames.push({ code: first & 0x0f, isFinal: (first & 0x80) !== 0, payload: bytes.subarray(start, start + size) });
    at = start + size;
  }
  return frames;
}

function receive(client: Duplex): () => Frame[] {
  const chunks: Buffer[] = [];
  client.on("data", (chunk: Buffer) => chunks.push(chunk));
  return () => framesIn(Buffer.concat(chunks));
}

/** Builds a message with one frame per payload. */
function message(payloads: readonly Buffer[]): Buffer {
  return Buffer.concat(
    payloads.map((payload, index) => {
      const frame = encodeFrame(index === 0 ? opcode.text : opcode.continuation, payload);
      if (index < payloads.length - 1) frame[0] = (frame[0] ?? 0) & 0x7f;
      return frame;
    }),
  );
}

/** Waits until the written bytes have passed through. */
async function settled(): Promise<void> {
  for (let turn = 0; turn < 4; turn++) await new Promise(setImmediate);
}

it("adds pings only between messages, for every split of the bytes", async () => {
  const payload = fc
    .oneof(fc.uint8Array({ maxLength: 8 }), fc.uint8Array({ minLength: 126, maxLength: 140 }))
    .map((bytes) => Buffer.from(bytes));
  const messages = fc.array(fc.array(payload, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 6 });
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  await fc.assert(
    fc.asyncProperty(messages, fc.array(fc.integer({ min: 1, max: 200 }), { minLength: 1 }), async (sent, cuts) => {
      const { client, instance } = linked(1000);
      const received = receive(client);
      const bytes = Buffer.concat(sent.map(message));
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const size = cuts[cut % cuts.length] ?? 1;
        instance.write(bytes.subarray(at, at + size));
        at += size;
        await settled();
        vi.advanceTimersByTime(250);
        // A sign of life.
        client.write(Buffer.alloc(1));
        await settled();
      }
      const pings = received().filter(({ code }) => code === opcode.ping);
      expect(pings.length).toBeGreaterThan(0);
      expect(
        Buffer.concat(received().flatMap(({ code, payload: part }) => (code === opcode.ping ? [] : [part]))),
      ).toEqual(Buffer.concat(sent.flat()));
      let inMessage = false;
      for (const { code, isFinal } of received()) {
        if (code === opcode.ping) expect(inMessage).toBe(false);
        else inMessage = !isFinal;
      }
      client.destroy();
    }),
  );
});

async function linkedSockets() {
  const [client, instance] = await Promise.all([socketPair(true), socketPair(false)]);
  linkedAt(client.far, instance.far, 60_000);
  return { client: client.near, clientFar: client.far, instance: instance.near };
}

const chunkBytes = 2 ** 16;
const emptyFrames = Buffer.alloc(chunkBytes, Buffer.from([0x80 | opcode.text, 0]));

it("passes a flood of empty frames on slowly, and every byte of it", async () => {
  // Each chunk fills the buffer of the second client, which drains when the client reads.
  const both = [await linkedSockets(), linked(60_000)].map(async ({ client, instance }) => {
    const beganMs = performance.now();
    for (let chunk = 0; chunk < 5; chunk++) instance.write(emptyFrames);
    const chunks: Buffer[] = [];
    let bytes = 0;
    client.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      bytes += chunk.length;
    });
    await eventually("the flood has passed", () => bytes >= 5 * chunkBytes);
    expect(Buffer.concat(chunks).equals(Buffer.concat(Array<Buffer>(5).fill(emptyFrames)))).toBe(true);
    return performance.now() - beganMs;
  });
  for (const tookMs of await Promise.all(both)) expect(tookMs).toBeGreaterThan(1000);
});

it("buffers little of a flood of empty frames for a client that does not read, and all of it arrives later", async () => {
  const { client, clientFar, instance } = await linkedSockets();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const round = async () => {
    vi.advanceTimersByTime(700);
    await settled();
  };
  // More than the kernel buffers for both ends.
  const floodBytes = 400 * chunkBytes;
  for (let at = 0; at < floodBytes; at += chunkBytes) instance.write(emptyFrames);
  while (!clientFar.writableNeedDrain) await round();
  let most = 0;
  for (let count = 0; count < 200; count++) {
    await round();
    most = Math.max(most, clientFar.writableLength);
  }
  expect(most).toBeLessThanOrEqual(3 * chunkBytes);
  let received = 0;
  client.on("data", (chunk: Buffer) => (received += chunk.length));
  while (received < floodBytes) await round();
  expect(received).toBe(floodBytes);
});

it("buffers few pongs for a client that does not read, while the instance sleeps", async () => {
  const sleep = new ManualSleep();
  const [client, clientFar] = duplexPair();
  const [, instanceFar] = duplexPair();
  linkedAt(clientFar, instanceFar, 60_000, sleep);
  sleep.fallAsleep();
  const pings = Buffer.concat(Array<Buffer>(50).fill(encodeFrame(opcode.ping, Buffer.alloc(125), { masked: true })));
  for (let count = 0; count < 100; count++) {
    client.write(pings);
    await settled();
  }
  expect(sleep.asleepSinceMs).toBeDefined();
  expect(clientFar.writableNeedDrain).toBe(true);
  expect(clientFar.writableLength).toBeLessThanOrEqual(3 * chunkBytes);
  client.destroy();
});

it("disconnects a client that answers no ping, and keeps a client that does", async () => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const [silent, lively] = [linked(400), linked(400)];
  silent.client.resume();
  let pings = 0;
  lively.client.on("data", (chunk: Buffer) => {
    pings += framesIn(chunk).filter(({ code }) => code === opcode.ping).length;
    lively.client.write(encodeFrame(opcode.pong, Buffer.alloc(0), { masked: true }));
  });
  // Pings come every quarter of the time limit.
  for (let turn = 0; turn < 16; turn++) {
    vi.advanceTimersByTime(50);
    await settled();
  }
  expect([silent.client.destroyed || silent.client.readableEnded, pings > 6]).toEqual([true, true]);
  expect([silent.onTimeout.mock.calls.length, lively.onTimeout.mock.calls.length, lively.client.destroyed]).toEqual([
    1,
    0,
    false,
  ]);
  lively.client.destroy();
});

it.each([
  { when: "before its answers are read", readsFirst: false },
  { when: "after they are read", readsFirst: true },
])("keeps a client if the service was paused and looks $when, and disconnects it if it stays silent", async (order) => {
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval", "performance"] });
  onTestFinished(() => {
    vi.restoreAllMocks();
    vi.useRealTimers();
  });
  const { client, onTimeout } = linked(400);
  client.resume();
  // The clock advances, and no timer fires meanwhile.
  const now = performance.now.bind(performance);
  vi.spyOn(performance, "now").mockImplementation(() => now() + 10_000);
  if (order.readsFirst) client.write(encodeFrame(opcode.pong, Buffer.alloc(0), { masked: true }));
  await settled();
  vi.advanceTimersByTime(100);
  await settled();
  expect(onTimeout).not.toHaveBeenCalled();
  for (let turn = 0; turn < 12; turn++) {
    vi.advanceTimersByTime(50);
    await settled();
  }
  expect(onTimeout).toHaveBeenCalledOnce();
});

it("disconnects a client that stops reading within a message", async () => {
  const { closed, instance, onTimeout } = linked(200);
  instance.write(message([Buffer.alloc(8 * 2 ** 20)]));
  await closed();
  expect(onTimeout).toHaveBeenCalledOnce();
});

it("closes with a code and a reason after the current message, and passes nothing more to the instance", async () => {
  const { client, instance, link } = linked(60_000);
  const received = receive(client);
  const whole = message([Buffer.from("on its way")]);
  let toInstance = "";
  instance.on("data", (chunk: Buffer) => (toInstance += chunk.toString()));
  instance.write(whole.subarray(0, 5));
  await new Promise((resolve) => client.once("data", resolve));
  link.close(1008, "revoked");
  link.close(1000, "again");
  client.write("for the instance");
  instance.write(Buffer.concat([whole.subarray(5), message([Buffer.from("later")]).subarray(0, 3)]));
  await new Promise((resolve) => client.once("end", resolve));
  expect(received().map(({ code, payload }) => [code, payload.toString("latin1")])).toEqual([
    [opcode.text, "on its way"],
    [opcode.close, "\x03\xf0revoked"],
  ]);
  expect(toInstance).toBe("");
});

it.each([
  ["never finishes its message", Buffer.from([0x81, 0x7e, 0xff, 0xff, 1])],
  ["sends invalid WebSocket frames", Buffer.from("HTTP/1.1 200 OK\r\n\r\n")],
])("disconnects a client whose instance %s", async (_what, bytes) => {
  const { client, closed, instance, link } = linked(60_000);
  client.resume();
  instance.write(bytes);
  await new Promise((resolve) => client.once("data", resolve));
  link.close(1008, "revoked");
  await closed();
});

it("reports whether the instance sent a close frame, which ends the connection without a second one", async () => {
  const { client, instance, link } = linked(60_000);
  const received = receive(client);
  expect(link.isClosedByInstance).toBe(false);
  instance.write(encodeClose(1000, "done"));
  await settled();
  expect(link.isClosedByInstance).toBe(true);
  link.endAfterInstance(1011, "connection_lost");
  await settled();
  expect(received().map(({ payload }) => payload.readUInt16BE(0))).toEqual([1000]);
  client.destroy();
});

/** Sleeps when the test calls it, and wakes at a touch. */
class ManualSleep implements InstanceSleep {
  asleepSinceMs: number | undefined;
  touches = 0;
  readonly #listeners = new Set<(change: SleepChange) => void>();

  after(): void {
    throw new Error("The test decides.");
  }

  fallAsleep(): void {
    this.asleepSinceMs = 1;
    for (const listener of this.#listeners) listener({ type: "asleep", sinceMs: 1 });
  }

  touch(): void {
    this.touches++;
    if (this.asleepSinceMs === undefined) return;
    this.asleepSinceMs = undefined;
    for (const listener of this.#listeners) listener({ type: "awake", sleptMs: 1 });
  }

  onChange(listener: (change: SleepChange) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }
}

it("passes every byte of a client once and in order to an instance that sleeps at any time between frames", async () => {
  const part = fc.record({
    isPing: fc.boolean(),
    payload: fc.uint8Array({ maxLength: 125 }).map((bytes) => Buffer.from(bytes)),
    sleepsBefore: fc.boolean(),
    cut: fc.integer({ min: 1, max: 60 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(part, { minLength: 1, maxLength: 12 }), async (parts) => {
      const sleep = new ManualSleep();
      const { client, instance } = linked(60_000, sleep);
      const received = receive(client);
      const chunks: Buffer[] = [];
      instance.on("data", (chunk: Buffer) => chunks.push(chunk));
      const [passed, pongs]: [Buffer[], Buffer[]] = [[], []];
      for (const { cut, isPing, payload, sleepsBefore } of parts) {
        if (sleepsBefore) sleep.fallAsleep();
        const frame = encodeFrame(isPing ? opcode.ping : opcode.text, payload, { masked: true });
        const isWhole = cut >= frame.length;
        // The mask of these frames is zero.
        if (isPing && isWhole && sleep.asleepSinceMs !== undefined) pongs.push(payload);
        else passed.push(frame);
        client.write(frame.subarray(0, cut));
        await settled();
        if (!isWhole) client.write(frame.subarray(cut));
        await settled();
        expect(sleep.asleepSinceMs !== undefined && !(isPing && isWhole)).toBe(false);
      }
      expect(Buffer.concat(chunks)).toEqual(Buffer.concat(passed));
      expect(received().map(({ code, payload }) => [code, payload])).toEqual(pongs.map((pong) => [opcode.pong, pong]));
      client.destroy();
    }),
  );
});

it("does not count pings of a client and their answers as use, but every message, and the end of the client", async () => {
  const sleep = new ManualSleep();
  const { client, instance } = linked(60_000, sleep);
  client.resume();
  const touchesOf = async (bytes: () => unknown) => {
    const before = sleep.touches;
    bytes();
    await settled();
    return sleep.touches - before;
  };
  instance.resume();
  expect([
    await touchesOf(() => client.write(encodeFrame(opcode.ping, Buffer.from("1"), { masked: true }))),
    await touchesOf(() => instance.write(encodeFrame(opcode.pong, Buffer.from("1")))),
    await touchesOf(() => client.write(encodeFrame(opcode.text, Buffer.from("1"), { masked: true }))),
    await touchesOf(() => instance.write(encodeFrame(opcode.text, Buffer.from("1")))),
  ]).toEqual([0, 0, 1, 1]);
  sleep.fallAsleep();
  client.end();
  await settled();
  expect(sleep.asleepSinceMs).toBeUndefined();
});
