import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { text } from "node:stream/consumers";
import { expect, it } from "vitest";
import { splitAttached } from "./attached-streams.ts";

function frame(stream: number, content: string): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt8(stream, 0);
  head.writeUInt32BE(Buffer.byteLength(content), 4);
  return Buffer.concat([head, Buffer.from(content)]);
}

async function connected(): Promise<{ readonly near: Socket; readonly far: Socket; readonly close: () => void }> {
  const server = createServer();
  await once(server.listen(0, "127.0.0.1"), "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("no port");
  const [[far], near] = await Promise.all([
    once(server, "connection") as Promise<[Socket]>,
    Promise.resolve(connect(address.port, "127.0.0.1")),
  ]);
  return { near, far, close: () => server.close() };
}

it("splits both outputs at every cut of the frames", async () => {
  const { near, far, close } = await connected();
  const { stdout, stderr } = splitAttached(near);
  const bytes = Buffer.concat([frame(1, "one "), frame(2, "bad "), frame(1, ""), frame(1, "two"), frame(2, "worse")]);
  far.setNoDelay(true);
  for (const byte of bytes) far.write(Buffer.of(byte));
  far.end();
  expect(await Promise.all([text(stdout), text(stderr)])).toEqual(["one two", "bad worse"]);
  close();
});

it("stops reading while an output is not read", async () => {
  const { near, far, close } = await connected();
  const { stdout, stderr } = splitAttached(near);
  stderr.resume();
  const content = "x".repeat(2 ** 20);
  for (let count = 0; count < 16; count++) far.write(frame(1, content));
  await expect.poll(() => near.isPaused()).toBe(true);
  expect(stdout.readableLength + (stdout as unknown as { writableLength: number }).writableLength).toBeLessThan(
    2 ** 20,
  );
  far.end();
  expect(await text(stdout)).toHaveLength(16 * 2 ** 20);
  close();
});

it("reads very many tiny frames slowly, and unchanged", async () => {
  const { near, far, close } = await connected();
  const { stdout, stderr } = splitAttached(near);
  const beganMs = performance.now();
  const frames = 60_000;
  far.end(Buffer.concat(Array.from({ length: frames }, (_, index) => frame(1 + (index % 2), String(index % 10)))));
  const outputs = await Promise.all([text(stdout), text(stderr)]);
  expect(outputs).toEqual(["02468", "13579"].map((digits) => digits.repeat(frames / 10)));
  expect(performance.now() - beganMs).toBeGreaterThan(1_000);
  close();
});
