import { createHash } from "node:crypto";
import { mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, vi } from "vitest";
import { type DownloadFinished, DownloadReports } from "./download-reports.ts";
import { DownloadList, maxListed } from "./download-list.ts";
import { copyFileTo, measureFile } from "./finished-file.ts";
import { originUrl } from "./listed-download.ts";

const started = (id: string) => ({ id, name: `${id}.txt`, url: `https://example.com/${id}`, frameId: "f" });
const never = new AbortController().signal;

describe("a list of downloads", () => {
  it("returns finished downloads one after another, also if they finished before the call", async () => {
    const list = new DownloadList();
    for (const id of ["a", "b", "c"]) list.begin(started(id));
    list.finish("b", { state: "completed" });
    list.finish("a", { state: "canceled" });
    expect((await list.next(undefined, never))?.id).toBe("b");
    expect((await list.next("b", never))?.id).toBe("a");
    const waiting = list.next("a", never);
    list.finish("c", { state: "completed" });
    expect((await waiting)?.id).toBe("c");
    expect(await list.next("c", AbortSignal.abort())).toBeUndefined();
    const late = new AbortController();
    const waitingToo = list.next("c", late.signal);
    late.abort();
    expect(await waitingToo).toBeUndefined();
    expect(list.all().map(({ id }) => id)).toEqual(expect.arrayContaining(["a", "b", "c"]));
  });

  it("ends each download once", () => {
    const list = new DownloadList();
    const ended = vi.fn();
    list.onFinished(ended);
    list.begin(started("a"));
    list.finish("a", { state: "completed" });
    list.finish("a", { state: "canceled" });
    list.finish("unknown", { state: "canceled" });
    list.progress("a", 9, 9);
    expect(ended).toHaveBeenCalledTimes(1);
    expect(list.find("a")).toMatchObject({ state: "completed", receivedBytes: 0 });
  });

  it("forgets the oldest of 10,000 finished downloads, and refuses too many running ones", () => {
    const list = new DownloadList();
    for (let number = 0; number < 10_000; number++) {
      list.begin(started(String(number)));
      list.finish(String(number), { state: "completed" });
    }
    expect(list.all()).toHaveLength(maxListed);
    expect(list.find("9999")).toBeDefined();
    expect(list.hasFinished("0")).toBe(false);
    let running = 0;
    while (list.begin(started(`r${String(running)}`))) running++;
    expect(running).toBeLessThan(10_000);
    list.interrupt(new Set(["r0"]));
    expect(list.all().filter(({ state }) => state === "in_progress")).toHaveLength(1);
  });
});

describe("reports of finished downloads", () => {
  it("are sent once per file, at most 20 in a second", () => {
    vi.useFakeTimers();
    try {
      const list = new DownloadList();
      const sent: DownloadFinished[] = [];
      const reports = new DownloadReports("/", (event) => sent.push(event));
      list.onFinished((download) => {
        reports.report(download);
      });
      for (let number = 0; number < 50; number++) {
        list.begin(started(String(number)));
        list.finish(String(number), { state: "completed", path: `/home/${String(number)}`, sizeBytes: 1 });
      }
      expect(sent).toHaveLength(20);
      vi.advanceTimersByTime(1000);
      expect(sent).toHaveLength(40);
      vi.advanceTimersByTime(1000);
      expect(new Set(sent.map((event) => event.download_id)).size).toBe(50);
      expect(sent[0]).toMatchObject({ path: "/home/0", host: "example.com", size_bytes: 1 });
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("the file of a download", () => {
  const directory = mkdtempSync(join(tmpdir(), "shoal-file-"));
  const at = (name: string) => join(directory, name);
  afterAll(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it("is measured when it is a regular file", async () => {
    writeFileSync(at("whole"), "content");
    writeFileSync(at("empty"), "");
    symlinkSync(at("whole"), at("link"));
    expect(await measureFile(at("whole"))).toEqual({
      sizeBytes: 7,
      sha256: createHash("sha256").update("content").digest("hex"),
    });
    expect(await measureFile(at("empty"))).toMatchObject({ sizeBytes: 0 });
    for (const path of [at("link"), directory, at("missing")]) expect(await measureFile(path)).toBeUndefined();
  });

  it("has no checksum if another file replaces it meanwhile", async () => {
    writeFileSync(at("replaced"), Buffer.alloc(4 * 2 ** 20));
    writeFileSync(at("other"), "other");
    const measured = measureFile(at("replaced"));
    renameSync(at("other"), at("replaced"));
    // The replacement comes before or after the start of the read.
    expect([undefined, createHash("sha256").update("other").digest("hex")]).toContain((await measured)?.sha256);
  });

  it("is not copied over another one, and a link is not copied", async () => {
    writeFileSync(at("source"), "source");
    await copyFileTo(at("source"), at("copy"));
    expect(readFileSync(at("copy"), "utf8")).toBe("source");
    await expect(copyFileTo(at("source"), at("copy"))).rejects.toMatchObject({ code: "EEXIST" });
    await expect(copyFileTo(at("link"), at("copy of link"))).rejects.toThrow();
  });
});

it.each([
  ["https://user:password@example.com:8443/a/b?token=secret#part", "https://example.com:8443/a/b"],
  ["data:text/plain,secret", "data:"],
  ["blob:https://example.com/6f3ad4b2", "blob:https://example.com"],
  ["not an address", ""],
])("shows the origin of %s as %s", (url, shown) => {
  expect(originUrl(url)).toBe(shown);
});
