import { encodeFrame, encodeMessage } from "@shoal/app-runner";
import { Duplex, PassThrough } from "node:stream";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { BoxChannel, readMessage } from "./box-channel.ts";

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

const action = (name: string, schema: object = {}) => ({ name, input_schema: schema, output_schema: null });
const schedule = { action_name: "b", cron: "0 0 * * *", time_zone: "UTC" };
let deep: object = {};
for (let level = 0; level < 64; level += 1) deep = { deep };

it.each([
  [
    [{ name: "a", actions: [action("b"), action("x".repeat(300))] }],
    "apps[0].actions[1].name is invalid; the limit is 255",
  ],
  [
    [{ name: "a", actions: [], schedules: Array.from({ length: 101 }, () => schedule) }],
    "apps[0].schedules is invalid; the limit is 100",
  ],
  [[{ name: "a", actions: [action("b", deep)] }], "more than 64 nested levels"],
])("names the field and the limit of an invalid description", (apps, reason) => {
  const content = Buffer.from(JSON.stringify({ type: "ready", apps }));
  expect(() => readMessage({ kind: "message", content })).toThrow(reason);
});

it("takes a description of five schedules with large payloads", async () => {
  const apps = [
    {
      name: "a",
      actions: [],
      schedules: Array.from({ length: 5 }, () => ({ ...schedule, payload: "x".repeat(60_000) })),
    },
  ];
  const stream = new PassThrough();
  stream.end(encodeMessage({ type: "ready", apps }));
  expect(await new BoxChannel(stream).message()).toEqual({ type: "ready", apps });
});
