import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { execFileSync } from "node:child_process";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { buffer, text } from "node:stream/consumers";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { afterEach, expect, it } from "vitest";
import type { Instance, Placement } from "./interface/placement.ts";
import { openPage, type TestPage } from "./testing/cdp.ts";
import { openPlacement, temporaryDirectory } from "./testing/placements.ts";
import { familyOf, stillRunning } from "./testing/processes.ts";
import { describeWith } from "./testing/requirements.ts";
import { startServer } from "./testing/servers.ts";

const siblings = 8;
const page = `<title>0</title><input id=name><canvas id=drawing width=20 height=20></canvas><script>
  let ticks = 0;
  setInterval(() => { document.title = String(++ticks) }, 20);
  const secret = Math.random();
  window.state = () => JSON.stringify({
    field: document.querySelector("#name").value,
    drawing: document.querySelector("#drawing").toDataURL(),
    secret,
    stored: history.length,
  });
  window.count = () => ticks;
  window.random = () => crypto.getRandomValues(new Uint8Array(16)).join();
  document.querySelector("#drawing").getContext("2d").fillRect(2, 3, 4, 5);
</script>`;

let placements: Placement[] = [];
afterEach(async () => {
  await Promise.all(placements.map((each) => each.close()));
  placements = [];
});

async function open(): Promise<{
  readonly placement: Placement;
  readonly parent: Instance;
  readonly sessionsDir: string;
}> {
  const sessionsDir = await temporaryDirectory();
  const { placement } = await openPlacement({ kind: "sandbox", sessionsDir, sessionDiskBytes: 256 * 2 ** 20 });
  placements.push(placement);
  const parent = await placement.acquire({ session_id: "parent", timeout_seconds: 600 }, undefined, { forkable: true });
  return { placement, parent, sessionsDir };
}

/** Runs a command of a shell in an instance. @returns what it printed. */
async function shell(instance: Instance, command: string): Promise<string> {
  const headers = { "content-type": "application/json" };
  const body = JSON.stringify({ command: "/bin/sh", args: ["-c", command] });
  const answer = await instance.request({ method: "POST", path: "/process/exec", headers }, body);
  const { stdout_b64: printed } = JSON.parse(await text(answer)) as { stdout_b64: string };
  return Buffer.from(printed, "base64").toString();
}

/** Other programs of the machine have theirs. */
const wishes = { project: "p", signal: new AbortController().signal };
const imageFolders = (): readonly string[] =>
  readdirSync("/dev/shm").filter((name) => name.startsWith(`shoal-copy-${String(process.pid)}-`));

function restores(pid: number): boolean {
  try {
    return readFileSync(`/proc/${String(pid)}/cmdline`, "utf8").includes("\0restore\0--images-dir\0");
  } catch {
    return false;
  }
}

async function textOf(each: TestPage, expression: string): Promise<string> {
  return String(await each.evaluate(expression));
}

describeWith(["chromium", "bubblewrap", "root", "copies"], "copies of a running session", () => {
  it("have its state, go on alone, and leave nothing", async () => {
    const { placement, parent, sessionsDir } = await open();
    const original = await openPage(parent);
    await original.open(`data:text/html,${encodeURIComponent(page)}`);
    await original.evaluate('document.querySelector("#name").value = "Oslo"');
    const [state, count] = [await textOf(original, "state()"), Number(await textOf(original, "count()"))];

    const copy = await parent.copy();
    const copies = await Promise.all(
      Array.from({ length: siblings }, (_, index) =>
        placement.acquire({ session_id: `copy-${String(index)}`, timeout_seconds: 600 }, undefined, { copyOf: copy }),
      ),
    );
    await copy.drop();
    expect(imageFolders()).toEqual([]);

    // The client of the original was not disconnected.
    expect(await textOf(original, "state()")).toBe(state);
    const pages = await Promise.all(copies.map((each) => openPage(each, original.targetId)));
    const states = await Promise.all(pages.map((each) => textOf(each, "state()")));
    expect(states).toEqual(Array.from({ length: siblings }, () => state));
    for (const each of pages)
      await eventually("the counter goes on", async () => Number(await textOf(each, "count()")) > count);
    const random = await Promise.all([original, ...pages].map((each) => textOf(each, "random()")));
    expect(new Set(random).size).toBe(siblings + 1);

    await pages[0]?.evaluate('document.querySelector("#name").value = "Bergen"');
    expect(await textOf(original, "state()")).toBe(state);
    const family = [parent, ...copies].flatMap(({ pid }) => familyOf(pid));
    expect(family.length).toBeGreaterThan(5 * siblings);
    await copies[0]?.stop();
    await parent.stop();
    expect(await textOf(pages[1] ?? original, "state()")).toBe(state);
    await placement.close();
    expect(readdirSync(sessionsDir).filter((name) => name.startsWith("server-"))).toEqual([]);
    expect(stillRunning(family)).toEqual([]);
  });

  it("are not left stopped when the server is killed meanwhile", async () => {
    const sessionsDir = await temporaryDirectory();
    const { child, served } = await startServer({ kind: "sandbox", sessionsDir, warm: 0, forkable: true });
    const family = familyOf(served.instance.pid);
    const inside = family.filter(({ pid }) => pid !== served.instance.pid).map(({ pid }) => pid);
    for (const pid of inside) process.kill(pid, "SIGSTOP");
    child.kill("SIGKILL");
    await once(child, "exit");
    expect(stillRunning(family)).toHaveLength(family.length);
    const { placement } = await openPlacement({ kind: "sandbox", sessionsDir });
    await placement.close();
    await eventually("the end of its processes", () => stillRunning(family).length === 0);
  });

  it("start from packed bytes in a later run of the service, also several and again", async () => {
    const { placement, parent } = await open();
    const original = await openPage(parent);
    await original.open(`data:text/html,${encodeURIComponent(page)}`);
    await original.evaluate('document.querySelector("#name").value = "Oslo"');
    await shell(parent, "echo before >/home/shoal/file");
    const [state, count] = [await textOf(original, "state()"), Number(await textOf(original, "count()"))];
    const copy = await parent.copy();
    const needs = await placement.copyNeeds();
    const packed = await copy.pack();
    const archive = await buffer(packed.archive);
    await copy.drop();
    await placement.close();

    const { placement: later } = await open();
    expect(await later.copyNeeds()).toEqual(needs);
    const unpacked = await later.unpack(async () => ({ ...packed, archive: Readable.from([archive]) }), wishes);
    const sessions = [];
    for (const id of ["first", "second"])
      sessions.push(
        await later.acquire({ session_id: id, timeout_seconds: 600 }, undefined, { forkable: true, copyOf: unpacked }),
      );
    await unpacked.drop();
    const pages = await Promise.all(sessions.map((each) => openPage(each, original.targetId)));
    for (const [index, each] of pages.entries()) {
      expect(await textOf(each, "state()")).toBe(state);
      await eventually("the counter goes on", async () => Number(await textOf(each, "count()")) > count);
      expect(await shell(sessions[index] ?? parent, "cat /home/shoal/file")).toBe("before\n");
    }
    expect(new Set(await Promise.all(pages.map((each) => textOf(each, "random()")))).size).toBe(2);
    // A session of a snapshot can be copied, too.
    const again = await (sessions[0] ?? parent).copy();
    const third = await later.acquire({ session_id: "third", timeout_seconds: 600 }, undefined, { copyOf: again });
    await again.drop();
    expect(await shell(third, "cat /home/shoal/file")).toBe("before\n");
    await later.close();
    expect(imageFolders()).toEqual([]);
  });

  it("name the failed restore of bytes that CRIU does not accept", async () => {
    const { placement, parent } = await open();
    const copy = await parent.copy();
    const packed = await copy.pack();
    const archive = zstdDecompressSync(await buffer(packed.archive));
    await copy.drop();
    const options = { input: archive, maxBuffer: 2 * archive.length };
    const broken = zstdCompressSync(execFileSync("tar", ["--delete", "-f", "-", "images/pages-1.img"], options));
    const unpacked = await placement.unpack(async () => ({ ...packed, archive: Readable.from([broken]) }), wishes);
    await expect(
      placement.acquire({ session_id: "broken", timeout_seconds: 600 }, undefined, { copyOf: unpacked }),
    ).rejects.toMatchObject({ code: "restore_failed" });
    await unpacked.drop();
    expect(imageFolders()).toEqual([]);
  });

  it("do not start from bytes that end early or are not a copy, and leave nothing then", async () => {
    const { placement, parent } = await open();
    const copy = await parent.copy();
    const packed = await copy.pack();
    const archive = await buffer(packed.archive);
    await copy.drop();
    for (const bytes of [archive.subarray(0, archive.length / 2), zstdCompressSync(Buffer.alloc(10_240))])
      await expect(
        placement.unpack(async () => ({ ...packed, archive: Readable.from([bytes]) }), wishes),
      ).rejects.toThrow();
    await expect(
      placement.unpack(async () => ({ archive: Readable.from([archive]), bytes: 1 }), {
        ...wishes,
        signal: AbortSignal.abort(),
      }),
    ).rejects.toThrow();
    expect(imageFolders()).toEqual([]);
  });

  it("have separate files", async () => {
    const { placement, parent } = await open();
    await shell(parent, "echo before >/home/shoal/file");
    const copy = await parent.copy();
    const child = await placement.acquire({ session_id: "child", timeout_seconds: 600 }, undefined, { copyOf: copy });
    await copy.drop();
    await shell(child, "echo after >>/home/shoal/file");
    expect(await shell(child, "cat /home/shoal/file")).toBe("before\nafter\n");
    expect(await shell(parent, "cat /home/shoal/file")).toBe("before\n");
  });

  it("have the files of shared memory", async () => {
    const { placement, parent } = await open();
    await shell(parent, "echo shared >/dev/shm/file");
    const copy = await parent.copy();
    const child = await placement.acquire({ session_id: "child", timeout_seconds: 600 }, undefined, { copyOf: copy });
    expect(await shell(child, "cat /dev/shm/file")).toBe("shared\n");
  });

  it("are refused after a program has moved the folders that each copy has its own of", async () => {
    const { parent } = await open();
    await shell(parent, "mv /run /run2 && mkdir -p /run/shoal");
    await expect(parent.copy()).rejects.toThrow("has moved /run/shoal");
    expect(imageFolders()).toEqual([]);
    expect(await shell(parent, "echo goes on")).toBe("goes on\n");
  });

  it("are refused for more processes than CRIU can take in time", async () => {
    const { parent } = await open();
    await shell(parent, "for each in $(seq 320); do setsid sleep 600 >/dev/null 2>&1 & done");
    await expect(parent.copy()).rejects.toThrow("more than 300 processes, the limit");
    expect(await shell(parent, "echo goes on")).toBe("goes on\n");
  });

  it("have streams that no program of the session can open", async () => {
    const { parent } = await open();
    expect(await shell(parent, "readlink /proc/1/fd/0 /proc/1/fd/1; echo none")).toBe("none\n");
  });

  it("end with bubblewrap and CRIU", async () => {
    const { placement, parent } = await open();
    const copy = await parent.copy();
    const child = await placement.acquire({ session_id: "child", timeout_seconds: 600 }, undefined, { copyOf: copy });
    for (const each of [parent, child]) {
      const family = familyOf(each.pid);
      expect(family.length).toBeGreaterThan(5);
      process.kill(each.pid ?? 0, "SIGKILL");
      await each.ended;
      expect(stillRunning(family)).toEqual([]);
    }
  });

  it("leave no images when the server stops before they are dropped", async () => {
    const { placement, parent } = await open();
    await parent.copy();
    expect(imageFolders()).toHaveLength(1);
    await placement.close();
    expect(imageFolders()).toEqual([]);
  });

  it("are given up when the server stops while CRIU restores them", async () => {
    const { placement, parent, sessionsDir } = await open();
    const copy = await parent.copy();
    const inventory = join("/dev/shm", imageFolders()[0] ?? "", "images", "inventory.img");
    // CRIU waits for a writer of this pipe.
    rmSync(inventory);
    execFileSync("mkfifo", [inventory]);
    const starting = placement.acquire({ session_id: "child", timeout_seconds: 600 }, undefined, { copyOf: copy });
    const outcome = starting.catch((error: unknown) => error);
    await eventually("CRIU", () => familyOf(process.pid).some(({ pid }) => restores(pid)));
    await placement.close();
    expect(await outcome).toMatchObject({ code: "closed" });
    expect(imageFolders()).toEqual([]);
    expect(readdirSync(sessionsDir).filter((name) => name.startsWith("server-"))).toEqual([]);
    expect(familyOf(process.pid).filter(({ pid }) => restores(pid))).toEqual([]);
  });
});
