import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { PassThrough, Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { zstdCompressSync } from "node:zlib";
import tar from "tar-stream";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { isBackedUp, openBackupSource, openRunningDatabase } from "@shoal/database";
import { databaseDirectory } from "../../config/data-dir.ts";
import { runShoalServer as run } from "../../testing/run-shoal-server.ts";
import { silentLog } from "../../testing/test-database.ts";
import { completeConfig } from "../../config/config.ts";
import type { RunningServer } from "../../main/running-server.ts";
import { startServer } from "../../main/server.ts";
import { StartError } from "../../config/start-error.ts";
import { unlimited } from "../../testing/unlimited.ts";
import { zipOf } from "../../testing/zip.ts";

let folder: string;
let dataDir: string;
let file: string;
let archive: Buffer;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-backup-"));
  dataDir = join(folder, "data");
  file = join(folder, "saved.backup");
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const start = (data_dir: string) =>
  startServer(completeConfig({ data_dir, port: 0, placement: "process", warm: 0, ...unlimited }), {
    logTo: new PassThrough().resume(),
  });

async function ask(
  server: RunningServer,
  method: string,
  path: string,
  body?: object | FormData,
): Promise<{ status: number; body: unknown }> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${server.apiKey ?? ""}`,
      ...(body !== undefined && !(body instanceof FormData) && { "content-type": "application/json" }),
    },
    ...(body !== undefined && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  const answer = await response.text();
  return {
    status: response.status,
    body: answer.startsWith("{") || answer.startsWith("[") ? JSON.parse(answer) : answer,
  };
}

it("backs up a running service, and restores it in another folder", async () => {
  const server = await start(dataDir);
  const zip = await zipOf({
    "manifest.json": JSON.stringify({ manifest_version: 3, name: "kept", version: "1" }),
    "page.html": "<p>ä</p>",
  });
  const form = new FormData();
  form.set("name", "kept");
  form.set("file", new Blob([new Uint8Array(zip)]), "kept.zip");
  expect((await ask(server, "POST", "/extensions", form)).status).toBeLessThan(300);
  expect(
    (
      await ask(server, "POST", "/proxies", {
        type: "custom",
        name: "kept",
        config: { host: "proxy.example", port: 8080, username: "u", password: "hidden-password" },
      })
    ).status,
  ).toBeLessThan(300);
  await ask(server, "POST", "/credentials", {
    name: "kept",
    domain: "example.com",
    values: { password: "hidden-password" },
    totp_secret: "JBSWY3DPEHPK3PXP",
  });
  const key = (await ask(server, "POST", "/org/api_keys", { name: "kept" })).body as { key: string };
  const session = (await ask(server, "POST", "/browsers", { name: "running", tags: { team: "qa" } })).body as {
    session_id: string;
  };
  for (let index = 0; index < 60; index += 1)
    await ask(server, "POST", "/profiles", { name: `before-${String(index)}` });

  const stopped = new AbortController();
  let written = 0;
  const writing = (async () => {
    while (!stopped.signal.aborted) {
      await ask(server, "POST", "/profiles", { name: `meanwhile-${String(written)}` });
      written += 1;
    }
  })();
  // A killed backup leaves this file.
  const { pid: ended } = spawnSync(process.execPath, ["--version"]);
  writeFileSync(`${file}.${String(ended)}.part`, "");
  const saved = await run(["backup", file, "--data-dir", dataDir]);
  stopped.abort();
  await writing;
  expect(saved).toMatchObject({ status: 0, stderr: expect.stringContaining("with secrets") as unknown });
  if (process.platform !== "win32") expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder).filter((name) => name.endsWith(".part"))).toEqual([]);
  expect(await run(["backup", file, "--data-dir", dataDir])).toMatchObject({
    status: 2,
    stderr: expect.stringContaining("already") as unknown,
  });
  archive = readFileSync(file);
  expect(archive.includes("hidden-password")).toBe(false);
  await ask(server, "POST", "/profiles", { name: "after" });
  await server.close();

  const other = join(folder, "other");
  expect(await run(["restore", file, "--data-dir", other])).toMatchObject({ status: 0 });
  const restored = await start(other);
  try {
    expect(restored.apiKey).toBe(server.apiKey);
    expect((await ask(restored, "GET", "/profiles/before-59")).status).toBe(200);
    expect((await ask(restored, "GET", "/profiles/after")).status).toBe(404);
    expect((await ask(restored, "GET", "/extensions/kept")).status).toBe(200);
    expect((await ask(restored, "GET", "/credentials/kept")).body).toMatchObject({ value_keys: ["password"] });
    expect((await ask(restored, "GET", "/credentials/kept/totp-code")).status).toBe(200);
    const download = await fetch(`${restored.baseUrl}/extensions/kept`, {
      headers: { authorization: `Bearer ${key.key}` },
    });
    expect(Buffer.from(await download.arrayBuffer()).equals(zip)).toBe(true);
    expect((await ask(restored, "GET", "/browsers")).body).toEqual([]);
    expect((await ask(restored, "GET", `/browsers/${session.session_id}?include_deleted=true`)).body).toMatchObject({
      ended_reason: "instance_lost",
      tags: { team: "qa" },
    });
    // The seal of the audit log is made with the secret, over every row.
    expect((await ask(restored, "GET", "/audit-logs/verify?")).body).toMatchObject({ valid: true });
    expect((await ask(restored, "POST", "/profiles", { name: "goes on" })).status).toBe(201);
  } finally {
    await restored.close();
  }
});

it("keeps files of deleted rows while a backup reads the database", async () => {
  const running = join(folder, "kept");
  const server = await start(running);
  try {
    const blobs = join(running, "blobs", "extensions");
    const upload = async (name: string) => {
      const form = new FormData();
      form.set("name", name);
      const manifest = JSON.stringify({ manifest_version: 3, name, version: "1" });
      form.set("file", new Blob([new Uint8Array(await zipOf({ "manifest.json": manifest }))]), `${name}.zip`);
      expect((await ask(server, "POST", "/extensions", form)).status).toBeLessThan(300);
    };
    await upload("during");
    const named = readdirSync(blobs);
    expect(named).toHaveLength(1);
    const source = await openBackupSource({ dataDir: databaseDirectory(running), log: silentLog });
    expect((await ask(server, "DELETE", "/extensions/during")).status).toBeLessThan(300);
    expect(readdirSync(blobs)).toEqual(named);
    await source.close();
    const database = await openRunningDatabase({ dataDir: databaseDirectory(running), log: silentLog });
    if (database === undefined) throw new Error("The database runs.");
    await expect.poll(() => isBackedUp(database)).toBe(false);
    await database.close();
    await upload("afterwards");
    expect(readdirSync(blobs)).toHaveLength(2);
    expect((await ask(server, "DELETE", "/extensions/afterwards")).status).toBeLessThan(300);
    expect(readdirSync(blobs)).toEqual(named);
  } finally {
    await server.close();
  }
});

it("backs up a stopped service to stdout without its secrets", async () => {
  const saved = await run(["backup", "-", "--data-dir", dataDir, "--without-secrets"]);
  expect(saved.status).toBe(0);
  const third = join(folder, "third");
  expect(await run(["restore", "-", "--data-dir", third], Readable.from([saved.stdout]))).toMatchObject({
    status: 0,
    stderr: expect.stringContaining("secret.key") as unknown,
  });
  expect(existsSync(join(third, "secret.key"))).toBe(false);
  writeFileSync(join(third, "secret.key"), readFileSync(join(dataDir, "secret.key")));
  const server = await start(third);
  await server.close();
});

it("reports that the bucket is not included", async () => {
  const saved = await run(["backup", "-", "--data-dir", dataDir], undefined, {
    SHOAL_BLOB_STORE_URL: "s3://key:topsecret@s3.example/bucket",
  });
  expect(saved).toMatchObject({
    status: 0,
    stderr: expect.stringMatching(/ and 0 files of .+ copy the bucket of blob_store_url/s) as unknown,
  });
  expect(saved.stderr).not.toContain("topsecret");
});

describe("a restore", () => {
  it("overwrites nothing, and refuses a running service", async () => {
    expect(await run(["restore", file, "--data-dir", dataDir])).toMatchObject({
      status: 2,
      stderr: expect.stringContaining("already contains data") as unknown,
    });
    const server = await start(join(folder, "third"));
    expect(await run(["restore", file, "--data-dir", join(folder, "third")])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining("in use") as unknown,
    });
    await server.close();
  });

  it.each<[string, () => Buffer]>([
    ["that was cut off", () => archive.subarray(0, Math.floor(archive.length * 0.6))],
    [
      "that was changed",
      () => {
        const changed = Buffer.from(archive);
        const at = Math.floor(changed.length * 0.7);
        changed[at] = (changed[at] ?? 0) ^ 0xff;
        return changed;
      },
    ],
    ["that is none", () => Buffer.from("not a backup")],
    ["that is empty", () => Buffer.alloc(0)],
  ])("restores nothing of a backup %s", async (_case, content) => {
    const target = join(folder, "damaged");
    const result = await run(["restore", "-", "--data-dir", target], Readable.from([content()]));
    expect(result).toMatchObject({ status: 1, stderr: expect.stringMatching(/damaged|do not fit/) as unknown });
    for (const name of ["database", "blobs", "secret.key", "restoring"])
      expect(existsSync(join(target, name))).toBe(false);
  });

  it.each<[string, readonly (readonly [string, string])[], string]>([
    [
      "of a newer version",
      [
        [
          "manifest.json",
          JSON.stringify({
            shoal_backup: 1,
            version: "9",
            created_at: "",
            migrations: ["9999_future"],
            secrets: false,
          }),
        ],
      ],
      "newer Shoal",
    ],
    [
      "that reaches out of its folder",
      [
        [
          "manifest.json",
          JSON.stringify({
            shoal_backup: 1,
            version: "0",
            created_at: "",
            migrations: ["0001_foundation"],
            secrets: false,
          }),
        ],
        ["blobs/../../escaped", "x"],
      ],
      "outside",
    ],
    [
      "with a table that is none",
      [
        [
          "manifest.json",
          JSON.stringify({
            shoal_backup: 1,
            version: "0",
            created_at: "",
            migrations: ["0001_foundation"],
            secrets: false,
          }),
        ],
        ["database/pg_authid/1.jsonl", "{}\n"],
      ],
      "pg_authid",
    ],
  ])("refuses one %s", async (_case, entries, expected) => {
    const pack = tar.pack();
    for (const [name, content] of entries) pack.entry({ name }, content);
    pack.finalize();
    const target = join(folder, "refused");
    const result = await run(
      ["restore", "-", "--data-dir", target],
      Readable.from([zstdCompressSync(await buffer(pack))]),
    );
    expect(result.status).toBe(1);
    expect(result.stderr).toContain(expected);
    expect(existsSync(join(folder, "escaped"))).toBe(false);
    expect(existsSync(join(target, "database"))).toBe(false);
  });

  it.each(["restoring", "database/pgdata/postmaster.pid"])(
    "that was killed when it had written %s leaves a folder that no service starts with, and can be repeated at once",
    async (written) => {
      const target = join(folder, `killed-${basename(written)}`);
      mkdirSync(target);
      const program = new URL("../../main/shoal-server.ts", import.meta.url).pathname;
      const child = spawn(
        process.execPath,
        ["--conditions=@shoal/source", program, "restore", "-", "--data-dir", target],
        {
          stdio: ["pipe", "ignore", "inherit"],
        },
      );
      const ended = once(child, "exit");
      child.stdin.on("error", () => undefined);
      // It waits for the end of its input.
      child.stdin.write(archive);
      await expect.poll(() => existsSync(join(target, written))).toBe(true);
      child.kill("SIGKILL");
      await ended;
      const error: unknown = await start(target).catch((reason: unknown) => reason);
      if (!StartError.isInstance(error)) throw new Error("It started.");
      expect(error.hint).toContain("restore");
      expect(await run(["restore", "-", "--data-dir", target], createReadStream(file))).toMatchObject({ status: 0 });
      const server = await start(target);
      expect((await ask(server, "GET", "/profiles/before-0")).status).toBe(200);
      await server.close();
    },
  );
});

it("prints its usage", async () => {
  for (const args of [[], ["backup"], ["restore", "a", "b"], ["nonsense", "x"], ["backup", "x", "--nonsense"]])
    expect(await run(args)).toMatchObject({ status: 2, stderr: expect.stringContaining("--help") as unknown });
  expect((await run(["--help"])).stdout.toString()).toContain("backup <file>");
  expect(await run(["backup", "x", "--data-dir", join(folder, "nothing")])).toMatchObject({
    status: 1,
    stderr: expect.stringContaining("does not contain an embedded database") as unknown,
  });
});
