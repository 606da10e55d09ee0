import { appendFile, mkdir, mkdtemp, realpath, rename, rm, stat, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { readFileLog } from "./file-log.ts";

describe("a log file", () => {
  let directory: string;
  beforeAll(async () => {
    directory = await realpath(await mkdtemp(join(tmpdir(), "shoal-log-")));
  });
  afterAll(() => rm(directory, { recursive: true }));

  let count = 0;
  const fresh = () => `file-${String(count++)}.log`;
  const read = (name: string, options: { follow?: boolean; lastEventId?: string } = {}) =>
    readFileLog({ directory, home: "/" }, { path: `/${name}`, follow: false, lastEventId: undefined, ...options });
  const all = async (name: string, lastEventId?: string) => {
    const lines: { id: string; message: string; timestamp: string }[] = [];
    for await (const frame of await read(name, { ...(lastEventId !== undefined && { lastEventId }) }))
      if ("data" in frame) lines.push({ id: frame.id, message: frame.data.message, timestamp: frame.data.timestamp });
    return lines;
  };
  const messages = async (name: string, lastEventId?: string) =>
    (await all(name, lastEventId)).map(({ message }) => message);
  const follow = async (name: string) => {
    const frames = await read(name, { follow: true });
    onTestFinished(async () => {
      await frames.return?.();
    });
    return async () => {
      // Also yields a mark where the stored lines end.
      for (;;) {
        const step = await frames.next();
        if (step.done === true) return undefined;
        if ("data" in step.value) return step.value.data.message;
      }
    };
  };

  it("is read to its end, including an unterminated last line", async () => {
    const name = fresh();
    await writeFile(join(directory, name), "one\r\n\ntwo é\nlast");
    const { mtime } = await stat(join(directory, name));
    const lines = await all(name);
    expect(lines.map(({ message }) => message)).toEqual(["one", "", "two é", "last"]);
    expect(lines[0]?.timestamp).toBe(mtime.toISOString());
    expect(await messages(name, lines[1]?.id)).toEqual(["two é", "last"]);
    expect(await messages(name, lines[3]?.id)).toEqual([]);
    expect(await messages(name, "1-1")).toHaveLength(4);
    expect(await messages(name, "nonsense")).toHaveLength(4);
    await writeFile(join(directory, name), "");
    expect(await messages(name)).toEqual([]);
  });

  it("is split into the same lines however it is read", async () => {
    const name = fresh();
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          fc.oneof(
            fc.string(),
            fc.string({ unit: "grapheme" }),
            fc.integer({ min: 0, max: 70_000 }).map((length) => "x".repeat(length)),
          ),
          { maxLength: 8 },
        ),
        async (texts) => {
          const lines = texts.map((text) => text.replaceAll(/[\r\n\uD800-\uDFFF]/gu, "_"));
          await writeFile(join(directory, name), lines.map((line) => `${line}\n`).join(""));
          expect((await messages(name)).join("|")).toBe(
            lines
              .flatMap((line) => (line.length > 65_536 ? [line.slice(0, 65_536), line.slice(65_536)] : [line]))
              .join("|"),
          );
        },
      ),
      { numRuns: 30 },
    );
  });

  it("is followed line by line", async () => {
    const name = fresh();
    const file = join(directory, name);
    await writeFile(file, "before\nunfin");
    const next = await follow(name);
    expect(await next()).toBe("before");
    const later = next();
    await appendFile(file, "ished\nmore\n");
    expect(await later).toBe("unfinished");
    expect(await next()).toBe("more");
  });

  it("is followed after a truncation", async () => {
    const name = fresh();
    const file = join(directory, name);
    await writeFile(file, "a long first line\n");
    const next = await follow(name);
    expect(await next()).toBe("a long first line");
    const later = next();
    await truncate(file);
    // Shorter than before, so that the reader also notices it now.
    await appendFile(file, "new\n");
    expect(await later).toBe("new");
  });

  it("is followed in the file that replaced it, after its own last line", async () => {
    const name = fresh();
    const file = join(directory, name);
    await writeFile(file, "one\n");
    const next = await follow(name);
    expect(await next()).toBe("one");
    const later = next();
    await rename(file, `${file}.1`);
    await appendFile(`${file}.1`, "two\nthree without an end");
    expect(await later).toBe("two");
    const last = next();
    await writeFile(file, "four\n");
    expect(await last).toBe("three without an end");
    expect(await next()).toBe("four");
  });

  it("can be left while no line arrives", async () => {
    const name = fresh();
    await writeFile(join(directory, name), "");
    const frames = await read(name, { follow: true });
    const waiting = frames.next();
    await frames.return?.();
    expect(await waiting).toEqual({ done: true, value: undefined });
    const unread = await read(name, { follow: true });
    await unread.return?.();
  });

  it.skipIf(process.platform !== "linux")("returns content that the system generates, once", async () => {
    const lines: string[] = [];
    const frames = await readFileLog(
      { directory: "/", home: "/" },
      { path: "/proc/self/status", follow: true, lastEventId: undefined },
    );
    for await (const frame of frames) {
      if ("data" in frame) lines.push(frame.data.message);
      if (lines.at(-1)?.startsWith("nonvoluntary") === true) break;
    }
    expect(lines[0]).toMatch(/^Name:/);
  });

  it("is rejected when it is not a file, or outside the root", async () => {
    await mkdir(join(directory, "folder"));
    await symlink("/etc/passwd", join(directory, "out"));
    await expect(read("none.log")).rejects.toMatchObject({ status: 404, code: "not_found" });
    await expect(read("folder")).rejects.toMatchObject({ status: 400, code: "not_a_file" });
    await expect(read("out")).rejects.toMatchObject({ status: 403 });
    if (process.platform !== "win32") {
      spawnSync("mkfifo", [join(directory, "pipe")]);
      await expect(read("pipe")).rejects.toMatchObject({ status: 400, code: "not_a_file" });
    }
  });
});
