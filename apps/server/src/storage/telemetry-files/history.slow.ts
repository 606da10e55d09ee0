import type { ListTelemetryEvents, TelemetryEnvelope } from "@shoal/schemas";
import fc from "fast-check";
import { mkdtemp, readdir, rm, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pino from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type * as z from "zod/mini";
import { writeEvents } from "./event-files.ts";
import { historyQuestion, readHistory } from "./history.ts";
import { createTelemetryStore } from "../../sessions/telemetry/telemetry-store.ts";

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-telemetry-"));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const nowMs = Date.parse("2026-01-31T12:00:00Z");

/** Events one second apart, the last one now; every third is a network event. */
function lineOf(seq: number, count: number, text = ""): string {
  const ts = (nowMs - (count - seq) * 1000) * 1000;
  const source = { kind: "cdp" };
  const event =
    seq % 3 === 0
      ? { ts, type: "network_idle", category: "network", source, data: { url: text } }
      : { ts, type: "console_log", category: "console", source, data: { text } };
  return `${JSON.stringify({ seq, event })}\n`;
}

async function write(directory: string, count: number, text = ""): Promise<void> {
  const writer = writeEvents(directory, 2 ** 30);
  for (let seq = 1; seq <= count; seq++) await writer.append(Buffer.from(lineOf(seq, count, text)));
  await writer.close();
}

type Query = Omit<Partial<z.output<typeof ListTelemetryEvents>>, "order"> & { readonly order?: string };
async function list(directory: string, query: Query) {
  const page = await readHistory(historyQuestion(directory, { order: "asc", limit: 20, ...query }, nowMs));
  return { ...page, items: JSON.parse(Buffer.from(page.items).toString()) as TelemetryEnvelope[] };
}
const seqs = ({ items }: Awaited<ReturnType<typeof list>>) => items.map(({ seq }) => seq);

describe("the history of a session", () => {
  it("begins five minutes ago or at since, and ends before until", async () => {
    await write(folder, 600);
    expect(seqs(await list(folder, { limit: 3 }))).toEqual([300, 301, 302]);
    expect(seqs(await list(folder, { since: "2s" }))).toEqual([598, 599, 600]);
    expect(seqs(await list(folder, { since: "2026-01-31T11:59:58Z" }))).toEqual([598, 599, 600]);
    expect(seqs(await list(folder, { since: "1m", until: "58s" }))).toEqual([540, 541]);
    expect(seqs(await list(folder, { since: "1h", category: ["network"], limit: 2 }))).toEqual([3, 6]);
    expect(seqs(await list(folder, { since: "1h", type: ["network_idle"], limit: 2 }))).toEqual([3, 6]);
    expect(seqs(await list(folder, { since: "1h", type: ["page_load", "network_idle"], limit: 2 }))).toEqual([3, 6]);
    expect(seqs(await list(folder, { since: "1h", category: ["console"], type: ["network_idle"] }))).toEqual([]);
    expect(await list(folder, { until: "2026-01-30" })).toMatchObject({ items: [], hasMore: false });
    await expect(list(folder, { since: "2026-13-31T00:00:00Z" })).rejects.toThrow("query.since");
    await expect(list(folder, { since: "5m", order: "desc" })).rejects.toThrow("query.since");
    expect(await list(join(folder, "nothing"), {})).toMatchObject({ items: [], hasMore: false });
  });

  it("returns every event once, page by page, in both orders, over several files", async () => {
    const count = 60;
    const directory = join(folder, "large");
    await write(directory, count, "x".repeat(100_000));
    expect((await readdir(directory)).length).toBeGreaterThan(3);
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 25 }),
        fc.constantFrom("asc", "desc"),
        fc.boolean(),
        async (limit, order, onlyNetwork) => {
          const found: number[] = [];
          let offset: number | undefined;
          for (let pages = 0; pages <= count; pages++) {
            const page = await list(directory, {
              order,
              limit,
              ...(offset === undefined ? order === "asc" && { since: "1h" } : { offset }),
              ...(onlyNetwork && { category: ["network"] }),
            });
            found.push(...seqs(page));
            offset = page.nextOffset;
            if (!page.hasMore) break;
          }
          const all = Array.from({ length: count }, (_, index) => index + 1).filter(
            (seq) => !onlyNetwork || seq % 3 === 0,
          );
          expect(found).toEqual(order === "asc" ? all : all.reverse());
        },
      ),
      { numRuns: 15 },
    );
  });

  it("continues after a page with later events", async () => {
    await write(folder, 5);
    const first = await list(folder, { since: "1h" });
    expect([seqs(first).length, first.hasMore]).toEqual([5, false]);
    const writer = writeEvents(folder, 2 ** 30);
    await writer.append(Buffer.from(lineOf(6, 6)));
    await writer.close();
    expect(seqs(await list(folder, { offset: first.nextOffset }))).toEqual([6]);
  });

  it("skips invalid events", async () => {
    const writer = writeEvents(folder, 2 ** 30);
    await writer.append(Buffer.from(`nonsense\n{"seq":"x"}\n${lineOf(1, 1)}{"half`));
    await writer.close();
    expect(seqs(await list(folder, { offset: 0 }))).toEqual([1]);
  });

  it("deletes the oldest events above the size limit, and all after the retention", async () => {
    const writer = writeEvents(join(folder, "session"), 3 * 2 ** 20);
    for (let seq = 1; seq <= 80; seq++) await writer.append(Buffer.from(lineOf(seq, 80, "x".repeat(100_000))));
    await writer.close();
    const left = seqs(await list(join(folder, "session"), { offset: 0, limit: 100 }));
    expect(left.length).toBeLessThan(60);
    expect(left.at(-1)).toBe(80);

    const parsing = { run: () => Promise.reject(new Error("Nothing is listed here.")) };
    const store = createTelemetryStore({
      directory: folder,
      retentionMs: 3_600_000,
      parsing,
      log: pino({ level: "silent" }),
    });
    expect(await store.sweep()).toBe(0);
    for (const name of await readdir(join(folder, "session"))) await utimes(join(folder, "session", name), 1, 1);
    expect(await store.sweep()).toBe(1);
    expect(await readdir(folder)).toEqual([]);
  });
});
