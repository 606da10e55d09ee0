import { ErrorBody } from "@shoal/schemas";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import type { Settings } from "../config/settings.ts";
import { namespaces, unshare, whyNoDisk } from "../testing/own-disk.ts";
import { manifest, zipOf } from "../testing/zip.ts";

/** Writes zeros until the disk is full. */
function fill(path: string): void {
  const file = openSync(path, "w");
  try {
    for (let size = 1 << 20; size >= 1; size = size === 1 ? 0 : size >> 1) {
      for (;;) writeSync(file, Buffer.alloc(size));
    }
  } catch (error) {
    if (!(error instanceof Error) || !("code" in error) || error.code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
}

/** Starts a service that has its own disk at `disk`. @param log - for stderr. */
function serveOn(disk: string, size: string, settings: Settings, log?: string) {
  const program = fileURLToPath(new URL("../testing/serve-child.ts", import.meta.url));
  const script = `set -e; mount -t tmpfs -o size=${size} none ${disk}; exec "$@"${log === undefined ? "" : ` 2>>${log}`}`;
  const node = [process.execPath, "--conditions=@shoal/source", program, JSON.stringify(settings)];
  return spawn(unshare, [...namespaces, "/bin/sh", "-c", script, "sh", ...node], { stdio: ["pipe", "pipe", "pipe"] });
}

const missing = whyNoDisk();
describe.skipIf(missing !== undefined)(
  `on a small disk${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    it("answers 507 while the disk is full, still reads, and recovers when space is free again", async () => {
      const disk = mkdtempSync(join(tmpdir(), "shoal-disk-"));
      const child = serveOn(disk, "300m", { data_dir: join(disk, "data") });
      const ended = once(child, "close");
      const errors = text(child.stderr);
      try {
        const line = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
        if (typeof line[0] !== "string") throw new Error(`the service did not start: ${await errors}`);
        const { api_key, base_url } = JSON.parse(line[0]) as { api_key: string; base_url: string };
        const send = async (method: string, path: string, body?: BodyInit) => {
          const response = await fetch(base_url + path, {
            method,
            headers: {
              authorization: `Bearer ${api_key}`,
              ...(typeof body === "string" && { "content-type": "application/json" }),
            },
            ...(body !== undefined && { body }),
          });
          const answer = await response.text();
          return {
            status: response.status,
            retryAfter: Number(response.headers.get("retry-after")),
            body: answer === "" ? undefined : (JSON.parse(answer) as unknown),
          };
        };
        const profile = (index: number) =>
          send("POST", "/profiles", JSON.stringify({ name: `profile-${String(index)}-`.padEnd(255, "x") }));
        const upload = async () => {
          const form = new FormData();
          form.set(
            "file",
            new File(
              [new Uint8Array(await zipOf({ "manifest.json": manifest, "data.bin": Buffer.alloc(100_000, "x") }))],
              "x.zip",
            ),
          );
          return send("POST", "/extensions", form);
        };
        expect((await profile(0)).status).toBe(201);
        expect((await upload()).status).toBe(201);

        const inside = `/proc/${String(child.pid)}/root${disk}`;
        fill(join(inside, "filler"));
        expect(await upload()).toMatchObject({ status: 507, retryAfter: 30, body: { code: "insufficient_storage" } });
        let refused = await profile(1);
        for (let index = 2; refused.status < 300 && index < 5000; index += 1) refused = await profile(index);
        expect([refused.status, ErrorBody.parse(refused.body).code]).toEqual([507, "insufficient_storage"]);
        expect(refused.retryAfter).toBe(30);
        expect((await send("GET", "/profiles?limit=1")).status).toBe(200);
        expect((await send("GET", "/health")).status).toBe(200);

        rmSync(join(inside, "filler"));
        await expect.poll(async () => (await profile(6000)).status).toBe(201);
        expect((await upload()).status).toBe(201);
        expect(((await send("GET", "/extensions")).body as unknown[]).length).toBe(2);
      } finally {
        child.stdin.end();
        await ended;
        rmSync(disk, { recursive: true, force: true });
      }
    });

    it("goes on while its log has no room, and says how many lines were lost", async () => {
      const folder = mkdtempSync(join(tmpdir(), "shoal-log-"));
      const disk = join(folder, "disk");
      mkdirSync(disk);
      const log = join(disk, "log");
      const child = serveOn(disk, "256k", { data_dir: join(folder, "data"), log_level: "debug" }, log);
      const ended = once(child, "close");
      try {
        const line = await Promise.race([once(createInterface({ input: child.stdout }), "line"), ended]);
        if (typeof line[0] !== "string") throw new Error("the service did not start");
        const { base_url } = JSON.parse(line[0]) as { base_url: string };
        // Each request is a line.
        const ask = async () => (await fetch(`${base_url}/health`)).status;
        const inside = `/proc/${String(child.pid)}/root`;
        fill(join(inside, disk, "filler"));
        for (let index = 0; index < 100; index += 1) expect(await ask()).toBe(200);
        expect(readFileSync(join(inside, log), "utf8")).not.toContain("were lost");
        rmSync(join(inside, disk, "filler"));
        expect(await ask()).toBe(200);
        await expect
          .poll(() => readFileSync(join(inside, log), "utf8"))
          .toMatch(/\{"level":"warn","time":"[^"]+","lost":\d+,"msg":"lines of the log were lost: ENOSPC/);
      } finally {
        child.stdin.end();
        await ended;
        rmSync(folder, { recursive: true, force: true });
      }
    });
  },
);
