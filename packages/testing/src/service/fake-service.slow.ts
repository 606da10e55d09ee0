import { Shoal } from "@shoal/client";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, expect, it, onTestFinished } from "vitest";
import { startFakeShoal } from "../index.ts";

const run = promisify(execFile);
const isPosix = process.platform !== "win32";
const { TMPDIR, XDG_CACHE_HOME } = process.env;
let folder = "";
let cache = "";
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "shoal-fakes-"));
  // As root, PostgreSQL may run as another user, which has to pass through the folder.
  await chmod(folder, 0o711);
  const temporary = join(folder, "tmp");
  await mkdir(temporary);
  cache = join(folder, "shoal", "testing");
  Object.assign(process.env, { TMPDIR: temporary, XDG_CACHE_HOME: folder });
});
afterEach(async () => {
  for (const [name, value] of Object.entries({ TMPDIR, XDG_CACHE_HOME }))
    if (value === undefined) Reflect.deleteProperty(process.env, name);
    else process.env[name] = value;
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
});

const temporaryFolders = (): Promise<string[]> => readdir(join(folder, "tmp"));

/** Starts a fake in another process, which runs `then` with it. */
const script = (then: string): string[] => [
  "--conditions=@shoal/source",
  "--input-type=module",
  "--eval",
  `import { startFakeShoal } from ${JSON.stringify(import.meta.resolve("../index.ts"))};
   const fake = await startFakeShoal();
   ${then}`,
];

async function works(): Promise<void> {
  await using fake = await startFakeShoal();
  const shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  expect((await shoal.profiles.create({ name: "a" })).name).toBe("a");
}

it.runIf(isPosix)("makes the golden folder once when two processes start at the same time", async () => {
  const keys = await Promise.all(
    [1, 2].map(async () => {
      const { stdout } = await run(process.execPath, script("console.log(fake.apiKey); await fake.close();"));
      return stdout.trim();
    }),
  );
  expect(keys.every((key) => key.startsWith("sk_"))).toBe(true);
  expect(await readdir(cache)).toHaveLength(1);
  expect((await stat(cache)).mode & 0o066).toBe(0);
  expect(await temporaryFolders()).toEqual([]);
});

it.runIf(isPosix)("removes the folders of a killed process at the next start", async () => {
  const child = spawn(process.execPath, script("console.log('ready'); setInterval(() => {}, 1000);"), {
    stdio: ["ignore", "pipe", "inherit"],
  });
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  await once(child.stdout, "data");
  const [left = ""] = await temporaryFolders();
  // An exit without `close` ends well, and the next start removes what it could not.
  await run(process.execPath, script("process.exit(0);"));
  await works();
  expect(await temporaryFolders()).toEqual([left]);
  child.kill("SIGKILL");
  await once(child, "close");
  // The process id now belongs to a process with another start.
  const owner = JSON.parse(await readFile(join(folder, "tmp", left, "owner.json"), "utf8")) as { pid: number };
  await mkdir(join(folder, "tmp", "shoal-fake-reused"));
  await writeFile(
    join(folder, "tmp", "shoal-fake-reused", "owner.json"),
    JSON.stringify({ ...owner, pid: process.pid }),
  );
  await mkdir(join(folder, "tmp", "shoal-fake-foreign"));
  await works();
  expect((await temporaryFolders()).filter((name) => process.platform === "linux" || !name.endsWith("reused"))).toEqual(
    ["shoal-fake-foreign"],
  );
});

it.runIf(isPosix)("makes the golden folder again when files are missing", async () => {
  await works();
  const [name = ""] = await readdir(cache);
  await using fake = await startFakeShoal();
  const shoal = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  await using other = await startFakeShoal();
  for (const damaged of ["database/pgdata/global", "admin-key.json"]) {
    await rm(join(cache, name, "data", damaged), { recursive: true });
    // The key stays, although the new golden folder has another one.
    await Promise.all([fake.reset(), other.reset()]);
    expect((await shoal.apiKeys.list()).items.map(({ masked_key }) => masked_key.slice(-4))).toEqual([
      fake.apiKey.slice(-4),
    ]);
    expect(await readdir(cache)).toEqual([name]);
    expect((await stat(join(cache, name, "data", damaged))).isFile() || damaged.includes("global")).toBe(true);
  }
  await Promise.all([fake.close(), other.close()]);
  expect(await temporaryFolders()).toEqual([]);
});

it.runIf(isPosix)("keeps the golden folder when the start fails elsewhere", async () => {
  await works();
  const [name = ""] = await readdir(cache);
  const { ino } = await stat(join(cache, name));
  process.env.TMPDIR = join(folder, "missing");
  await expect(startFakeShoal()).rejects.toMatchObject({ code: "ENOENT" });
  expect((await stat(join(cache, name))).ino).toBe(ino);
  expect(await readdir(cache)).toEqual([name]);
});

it.runIf(isPosix)("refuses a cache that other users may write to", async () => {
  await mkdir(cache, { recursive: true });
  await chmod(cache, 0o777);
  await expect(startFakeShoal()).rejects.toThrow(`Other users may write to ${cache}`);
  expect(await temporaryFolders()).toEqual([]);
});

it.runIf(isPosix)("names the folder that it cannot write to, and the next step", async () => {
  await writeFile(join(folder, "shoal"), "a file");
  await expect(startFakeShoal()).rejects.toThrow(
    new RegExp(`cannot write to ${cache} .*set TMPDIR and XDG_CACHE_HOME to other folders`),
  );
});
