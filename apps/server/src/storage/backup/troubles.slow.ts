import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import { startServer } from "../../main/server.ts";
import { namespaces, unshare, whyNoDisk } from "../../testing/own-disk.ts";
import { runShoalServer as run } from "../../testing/run-shoal-server.ts";
import { unlimited } from "../../testing/unlimited.ts";
import { zipOf } from "../../testing/zip.ts";

let folder: string;
let dataDir: string;
let file: string;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-troubles-"));
  dataDir = join(folder, "data");
  file = join(folder, "saved.backup");
  const settings = { data_dir: dataDir, port: 0, placement: "process", warm: 0, ...unlimited } as const;
  const server = await startServer(completeConfig(settings), { logTo: new PassThrough().resume() });
  try {
    const zip = await zipOf({
      "manifest.json": JSON.stringify({ manifest_version: 3, name: "kept", version: "1" }),
      "picture.bin": randomBytes(100_000),
    });
    const form = new FormData();
    form.set("file", new Blob([new Uint8Array(zip)]), "kept.zip");
    // On a busy machine, the service gives up reading the archive.
    await eventuallyPasses(async () => {
      const answer = await fetch(`${server.baseUrl}/extensions`, {
        method: "POST",
        headers: { authorization: `Bearer ${server.apiKey ?? ""}` },
        body: form,
      });
      expect(answer.status, await answer.text()).toBeLessThan(300);
    });
  } finally {
    await server.close();
  }
  expect(await run(["backup", file, "--data-dir", dataDir])).toMatchObject({ status: 0 });
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it("says which files of rows are missing, and refuses a folder of blobs that does not exist", async () => {
  const empty = join(folder, "empty");
  mkdirSync(empty);
  expect(await run(["backup", "-", "--data-dir", dataDir, "--blobs-dir", empty])).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/lacks 1 files that the database names, such as extensions\/\w+\./) as unknown,
  });
  const target = join(folder, "without-blobs.backup");
  expect(await run(["backup", target, "--data-dir", dataDir, "--blobs-dir", join(folder, "nowhere")])).toMatchObject({
    status: 2,
    stderr: expect.stringMatching(/nowhere does not exist, but the database names 1 files.+--blobs-dir/s) as unknown,
  });
  expect(existsSync(target)).toBe(false);
});

describe("a restore", () => {
  it("of a file that cannot be read does not call it damaged", async () => {
    const result = await run(["restore", join(folder, "missing.backup"), "--data-dir", join(folder, "unread")]);
    expect(result).toMatchObject({ status: 1, stderr: expect.stringContaining("ENOENT") as unknown });
    expect(result.stderr).not.toContain("damaged");
  });

  it.skipIf(whyNoDisk() !== undefined)(
    "on a full disk names the disk, leaves nothing, and can be repeated",
    async () => {
      const [blobs, target] = [join(folder, "small"), join(folder, "full")];
      mkdirSync(blobs);
      const program = new URL("../../main/shoal-server.ts", import.meta.url).pathname;
      const command = [process.execPath, "--conditions=@shoal/source", program, "restore", file];
      const script = 'mount -t tmpfs -o size=16k none "$1" && shift && exec "$@"';
      const args = [...namespaces, "/bin/sh", "-c", script, "sh", blobs, ...command];
      const child = spawn(unshare, [...args, "--data-dir", target, "--blobs-dir", blobs], {
        stdio: ["ignore", "ignore", "pipe"],
      });
      const [said] = await Promise.all([text(child.stderr), once(child, "close")]);
      expect([child.exitCode, said]).toEqual([1, expect.stringContaining("ENOSPC")]);
      expect(said).not.toContain("damaged");
      for (const name of ["database", "secret.key", "restoring"]) expect(existsSync(join(target, name))).toBe(false);
      expect(await run(["restore", file, "--data-dir", target, "--blobs-dir", blobs])).toMatchObject({ status: 0 });
    },
  );

  it("removes no files that an interrupted one did not write", async () => {
    const [target, shared] = [join(folder, "interrupted"), join(folder, "shared")];
    for (const path of [target, shared]) mkdirSync(path);
    writeFileSync(join(target, "restoring"), "The restore is incomplete. Run it again.\n");
    writeFileSync(join(shared, "of another service"), "");
    expect(await run(["restore", file, "--data-dir", target, "--blobs-dir", shared])).toMatchObject({
      status: 2,
      stderr: expect.stringMatching(/interrupted restore wrote files into .+--blobs-dir/s) as unknown,
    });
    expect(readdirSync(shared)).toEqual(["of another service"]);
    expect(await run(["restore", file, "--data-dir", target])).toMatchObject({ status: 0 });
  });
});
