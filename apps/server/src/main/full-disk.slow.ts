import { ErrorBody } from "@shoal/schemas";
import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { manifest, zipOf } from "../testing/zip.ts";

const unshare = "/usr/bin/unshare";
const namespaces = ["--user", "--map-root-user", "--mount", "--propagation=private"];

/** Why the test cannot have a separate disk; `undefined` if it can. In CI it always can, so the tests run and fail. */
function whyNoDisk(): string | undefined {
  if (process.env.SHOAL_REQUIRE_ALL === "1") return undefined;
  if (process.platform !== "linux") return "mount namespaces are a thing of Linux";
  try {
    execFileSync(unshare, [...namespaces, "true"], { stdio: "ignore" });
    return undefined;
  } catch {
    return "needs unshare (util-linux) and user namespaces";
  }
}

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

const missing = whyNoDisk();
describe.skipIf(missing !== undefined)(
  `on a small disk${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    it("answers 507 while the disk is full, still reads, and recovers when space is free again", async () => {
      const disk = mkdtempSync(join(tmpdir(), "shoal-disk-"));
      const dataDir = join(disk, "data");
      const program = fileURLToPath(new URL("../testing/serve-child.ts", import.meta.url));
      const script = `set -e; mount -t tmpfs -o size=300m none ${disk}; exec "$@"`;
      const child = spawn(
        unshare,
        [
          ...namespaces,
          "/bin/sh",
          "-c",
          script,
          "sh",
          process.execPath,
          "--conditions=@shoal/source",
          program,
          JSON.stringify({ data_dir: dataDir }),
        ],
        { stdio: ["pipe", "pipe", "pipe"] },
      );
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
  },
);
