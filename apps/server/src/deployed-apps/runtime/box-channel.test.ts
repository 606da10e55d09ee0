import { encodeFrame } from "@shoal/app-runner";
import { Duplex } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { BoxChannel } from "./box-channel.ts";

/** Offers the chunk once in each turn of the event loop. */
function endless(chunk: Buffer): Duplex {
  return new Duplex({
    read() {
      setImmediate(() => this.push(chunk));
    },
    write(_chunk, _encoding, done) {
      done();
    },
  });
}

it.each([
  {
    name: "empty frames",
    chunk: Buffer.concat(Array.from({ length: 13_000 }, () => encodeFrame("value", Buffer.of()))),
  },
  { name: "values", chunk: encodeFrame("value", Buffer.alloc(2 ** 20)) },
])("reads endless $name slowly, so that they do not block the main thread", async ({ chunk }) => {
  const beganMs = performance.now();
  const stream = endless(chunk);
  const channel = new BoxChannel(stream);
  let read = 0;
  const stop = new AbortController();
  const reading = (async () => {
    while (!stop.signal.aborted) read += 320 + ((await channel.next())?.content.length ?? 0);
  })();
  for (let turn = 0; turn < 300; turn += 1) await nextTurn();
  // A burst of 16 MiB, the last chunk, and 16 MiB per second.
  const bound = 16 * 2 ** 20 + 2 * 13_000 * 320 + (17 * 2 ** 20 * (performance.now() - beganMs)) / 1000;
  expect(read).toBeLessThan(bound);
  stop.abort();
  await reading;
  stream.destroy();
});
