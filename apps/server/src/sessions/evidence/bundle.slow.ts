import { randomBytes } from "node:crypto";
import { createReadStream, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { fromBufferPromise } from "yauzl";
import type { TelemetryStore } from "../telemetry/telemetry-store.ts";
import { type Bundle, once, streamBundle } from "./bundle.ts";
import { traceZip } from "./trace-file.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-bundle-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const at = new Date();
const closed = (stream: Readable) =>
  new Promise<void>((resolve) => {
    if (stream.closed) resolve();
    else stream.once("close", resolve);
  });

/** Content of an archive without a reader: the archive takes it, and then reads no further file. */
async function* unread(): AsyncGenerator<Uint8Array> {
  for (let count = 0; count < 30; count++) yield* once(randomBytes(10_000));
}

it("fails for a reader that comes later", async () => {
  const archive = streamBundle(at, () => Promise.reject(new Error("no pictures")));
  await closed(archive);
  await expect(buffer(archive)).rejects.toThrow("no pictures");
});

it("closes a queued file when the reader leaves", async () => {
  const path = join(folder, "film.mp4");
  writeFileSync(path, "film");
  let file: Readable | undefined;
  const archive = streamBundle(at, async (bundle) => {
    await bundle.add("first", unread(), { compress: false });
    file = createReadStream(path);
    file.once("ready", () => archive.destroy());
    await bundle.add("film.mp4", file as AsyncIterable<Buffer>);
  });
  await closed(archive);
  if (file === undefined) throw new Error("The archive did not open the file.");
  await closed(file);
});

it("says which queued file failed before the archive read it", async () => {
  let leftOut: Bundle["leftOut"] = [];
  const archive = streamBundle(at, async (bundle) => {
    ({ leftOut } = bundle);
    await bundle.add("first", unread(), { compress: false });
    const missing = createReadStream(join(folder, "missing.mp4"));
    missing.once("close", () => archive.resume());
    await bundle.add("missing.mp4", missing as AsyncIterable<Buffer>);
  });
  await closed(archive);
  expect(leftOut).toEqual([
    { what: "missing.mp4", reason: "It is incomplete: the service could not read it beyond 0 bytes." },
  ]);
});

it("cuts content above its limit, with its size and a reason in the manifest", async () => {
  let added: Bundle | undefined;
  const archive = streamBundle(at, async (bundle) => {
    added = bundle;
    await bundle.add("long", Readable.from([Buffer.from("abc"), Buffer.from("def")]), { maxBytes: 4 });
    await bundle.add("short", Readable.from([Buffer.from("abcd")]), { maxBytes: 4 });
  });
  const zip = await fromBufferPromise(await buffer(archive));
  const texts: string[] = [];
  for await (const entry of zip.eachEntry())
    texts.push((await buffer(await zip.openReadStreamPromise(entry))).toString());
  expect(texts).toEqual(["abcd", "abcd"]);
  expect(added?.files.map(({ size_bytes: size }) => size)).toEqual([4, 4]);
  expect(added?.leftOut).toEqual([{ what: "long", reason: "It is incomplete: it is longer than 4 bytes." }]);
});

it("has a file of each name once, which a verifier requires", async () => {
  let failure = "";
  const archive = streamBundle(at, async (bundle) => {
    await bundle.add("same", once(Buffer.from("a")));
    failure = await bundle.add("same", once(Buffer.from("b"))).then(String, String);
  });
  const zip = await fromBufferPromise(await buffer(archive));
  expect([zip.entryCount, failure]).toEqual([1, "Error: The archive has a file of this name."]);
});

it("bounds the pictures and bodies of a trace, and lets timers run meanwhile", async () => {
  const png = Buffer.alloc(24);
  png.writeUInt32BE(0x89504e47);
  const lineOf = (seq: number, type: string, data: object) =>
    `${JSON.stringify({ seq, event: { ts: seq, type, category: "network", data } })}\n`;
  const store: Pick<TelemetryStore, "lines"> = {
    async *lines(_session, { types = [] }) {
      for (let chunk = 0; chunk < 40; chunk++) {
        await Promise.resolve();
        const lines = Array.from({ length: 200 }, (_, index) => {
          const seq = chunk * 200 + index;
          return types.includes("monitor_screenshot")
            ? lineOf(seq, "monitor_screenshot", { png: png.toString("base64") })
            : types.includes("network_response")
              ? lineOf(seq, "network_response", { request_id: String(seq), body: `{"n":${String(seq)}}` })
              : "";
        });
        yield Buffer.from(lines.join(""));
      }
    },
  };
  const gaps: string[] = [];
  let turns = 0;
  const timer = setInterval(() => turns++, 1);
  const zip = await fromBufferPromise(
    await buffer(
      traceZip({
        ...{ at, name: null, sessionId: "s", startMs: 0, hasActs: true, viewport: { width: 800, height: 600 } },
        events: {
          store,
          sessionId: "s",
          end: undefined,
          reader: { projectId: "p", signal: new AbortController().signal },
        },
        lastPicture: () => Promise.resolve(undefined),
        leave: (what) => gaps.push(what),
      }),
    ),
  );
  clearInterval(timer);
  expect([zip.entryCount, gaps]).toEqual([2_000 + 5_000 + 2, ["more screenshots", "more bodies of answers"]]);
  const names = new Set<string>();
  let requests = "";
  for await (const entry of zip.eachEntry()) {
    names.add(entry.fileName);
    if (entry.fileName === "trace.network")
      requests = (await buffer(await zip.openReadStreamPromise(entry))).toString("utf8");
  }
  // A viewer fails to load a body that the archive lacks.
  const bodies = [...requests.matchAll(/"_sha1":"(\w+)"/g)].map(([, name = ""]) => `resources/${name}`);
  expect([bodies.length, requests.split("\n").length]).toEqual([5_000, 8_001]);
  expect(bodies.filter((name) => !names.has(name))).toEqual([]);
  expect(turns).toBeGreaterThan(100);
});

it("names the files of a trace that could not be read", async () => {
  const gaps: string[] = [];
  const store: Pick<TelemetryStore, "lines"> = {
    // oxlint-disable-next-line require-yield -- a history without events
    async *lines(_session, { types }) {
      await Promise.resolve();
      if (types?.includes("page_act") === true) throw new Error("The parse workers are overloaded.");
    },
  };
  const reader = { projectId: "p", signal: new AbortController().signal };
  const trace = traceZip({
    ...{ at, name: null, sessionId: "s", startMs: 0, hasActs: true, viewport: { width: 800, height: 600 } },
    events: { store, sessionId: "s", end: undefined, reader },
    lastPicture: () => Promise.resolve(undefined),
    leave: (what) => gaps.push(what),
  });
  await closed(trace.resume());
  expect(gaps).toEqual(["trace.trace"]);
});
