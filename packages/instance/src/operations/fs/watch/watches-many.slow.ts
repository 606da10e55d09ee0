import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { serveWatches } from "./testing/served-watches.ts";
import { eventsOf, expectNothingMissing, prepared, watched } from "./testing/watched.ts";

const call = {
  query: {},
  body: undefined,
  headers: {},
  requestId: "",
  signal: new AbortController().signal,
  lastEventId: undefined,
  context: undefined,
};

describe("many watches, files and events", () => {
  it("misses none of 20,000 files in one directory", async () => {
    await using served = await prepared();
    const frames = await watched(
      served,
      `import { writeFileSync } from "node:fs"; for (let i = 0; i < 20000; i++) writeFileSync("w/f" + i, "x");`,
      {
        by: "node",
      },
    );
    await expectNothingMissing(served, frames);
    expect(eventsOf(frames).filter(({ type }) => type === "CREATE")).toHaveLength(20_000);
  });

  it("misses nothing when the kernel drops events because the event loop was blocked", async () => {
    await using served = await prepared("w/there");
    const id = await served.start("/w");
    const reader = await served.read(id);
    const writing = served.node(`
      import { mkdirSync, rmSync, writeFileSync } from "node:fs";
      for (let i = 0; i < 12000; i++) writeFileSync("w/f" + i, "x");
      for (let i = 0; i < 1000; i++) { mkdirSync("w/d" + i + "/e", { recursive: true }); writeFileSync("w/d" + i + "/e/f", "x"); }
      for (let i = 0; i < 12000; i += 2) rmSync("w/f" + i);
      for (let i = 0; i < 8000; i++) writeFileSync("w/there/f" + i, "x");
      writeFileSync("done", "");`);
    // The test and the service share a thread: while the test waits here, the service reads nothing.
    const { existsSync } = await import("node:fs");
    const sleep = new Int32Array(new SharedArrayBuffer(4));
    const intervalMs = 20; // of the looks for the file
    while (!existsSync(join(served.root, "done"))) Atomics.wait(sleep, 0, 0, intervalMs);
    await writing;
    await served.stop(id);
    await expectNothingMissing(served, await reader.toEnd(), new Map([["/w/there", true]]));
  });

  it("do not delay other readers or use unlimited memory when they are slow", async () => {
    await using served = await serveWatches({ bytesPerWatch: 256 * 1024 });
    await mkdir(join(served.root, "w"));
    const id = await served.start("/w");
    const slow = await served.read(id, { gaps: true });
    slow.response.pause();
    const quick = await served.read(id);
    const name = "n".repeat(200);
    const writing = served.node(
      `import { writeFileSync } from "node:fs"; for (let i = 0; i < 15000; i++) writeFileSync("w/${name}" + i, ""); writeFileSync("w/last", "");`,
    );
    await quick.until(({ event }) => event?.name === "last");
    await writing;
    slow.response.resume();
    const frames = await slow.until(({ event }) => event?.name === "last");
    const missed = frames.reduce((sum, frame) => sum + (frame.missed ?? 0), 0);
    expect(missed).toBeGreaterThan(0);
    expect(missed + frames.filter(({ event }) => event).length).toBe(frames.at(-1)?.id);
  });

  it("accept 10,000 watches and no more", async () => {
    await using served = await serveWatches();
    await served.node(`import { mkdirSync } from "node:fs"; for (let i = 0; i < 10000; i++) mkdirSync("d" + i);`);
    const at = async (path: string) =>
      served.handlers.startWatch({ ...call, params: { id: "" }, body: { path, recursive: false } });
    for (let start = 0; start < 10_000; start += 500)
      await Promise.all(Array.from({ length: 500 }, (_, index) => at(`/d${start + index}`)));
    expect((await served.post({ path: "/d0" })).status).toBe(429);
  });

  it("reject a directory with more entries than the limit", async () => {
    await using served = await serveWatches({ entries: 100 });
    await served.sh(
      "mkdir -p w many; for i in $(seq 150); do : > many/$i; done; for i in $(seq 90); do : > w/$i; done",
    );
    const refused = await served.post({ path: "/many" });
    expect(refused.status).toBe(507);
    expect(await refused.text()).toContain("100 files");
    const id = await served.start("/w");
    await served.sh("for i in $(seq 200); do : > w/more$i; done");
    const { frames, refusal } = await served.readOut(id);
    expect(frames.length).toBeGreaterThan(0);
    expect(refusal).toMatch(/507 .*100 files/);
  });

  it("misses nothing of cp -r", async () => {
    await using served = await prepared("from");
    await served.sh(
      "for i in $(seq 300); do mkdir -p from/$i; done; for i in $(seq 1000); do echo $i > from/$((i % 300 + 1))/f$i; done",
    );
    const frames = await watched(served, "cp -r from w/to");
    await expectNothingMissing(served, frames);
    expect(new Set(eventsOf(frames).map(({ path }) => path)).size).toBe(1301);
  });
});
