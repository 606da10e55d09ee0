import { spawn } from "node:child_process";
import { once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StartError } from "./start-error.ts";
import { adminKeyPath, readAdminKey, writeAdminKey } from "./admin-key.ts";
import { createServerSecret, findServerSecret, openDataDir } from "./data-dir.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-data-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

it("creates the folder and its secrets readable only by this user, and finds them again", async () => {
  const path = join(folder, "deep", "data");
  const first = await openDataDir(path);
  expect(findServerSecret(path, undefined)).toBeUndefined();
  const secret = createServerSecret(path);
  first.release();
  const second = await openDataDir(path);
  expect(second.serverId).toBe(first.serverId);
  expect(findServerSecret(path, undefined)).toBe(secret);
  expect(findServerSecret(path, "configured")).toBe("configured");
  if (process.platform !== "win32") {
    expect(modeOf(path)).toBe(0o700);
    expect(modeOf(join(path, "secret.key"))).toBe(0o600);
  }
  second.release();
  expect(readdirSync(path).sort()).toEqual(["secret.key", "server-id", "server.lock", "sessions"]);
});

it("refuses a folder that a running server uses, and names it", async () => {
  const held = await openDataDir(folder);
  await expect(openDataDir(folder)).rejects.toThrow(
    new RegExp(`in use by the Shoal server with process id ${String(process.pid)}`),
  );
  held.release();
  (await openDataDir(folder)).release();
});

it("locks the folder for one of several servers that start at once after a crash", async () => {
  const program = `
    const { openDataDir } = await import(${JSON.stringify(new URL("data-dir.ts", import.meta.url).href)});
    const say = (text) => process.stdout.write(text + "\\n");
    process.stdin.on("data", () => openDataDir(${JSON.stringify(folder)}).then(() => say("held"), (error) => say(error.message)));
    say("loaded");`;
  let servers = Array.from({ length: 4 }, () => {
    const child = spawn(process.execPath, ["--conditions=@shoal/source", "--input-type=module", "-e", program]);
    return { child, lines: createInterface(child.stdout)[Symbol.asyncIterator]() };
  });
  const next = () => Promise.all(servers.map(async ({ lines }) => String((await lines.next()).value)));
  try {
    expect(new Set(await next())).toEqual(new Set(["loaded"]));
    while (servers.length > 1) {
      for (const { child } of servers) child.stdin.write("go\n");
      const said = await next();
      expect(said.filter((line) => line === "held")).toHaveLength(1);
      expect(said.filter((line) => line.includes("in use by the Shoal server"))).toHaveLength(servers.length - 1);
      const holder = servers[said.indexOf("held")]?.child;
      holder?.kill("SIGKILL");
      if (holder !== undefined) await once(holder, "close");
      servers = servers.filter(({ child }) => child !== holder);
    }
  } finally {
    for (const { child } of servers) child.kill("SIGKILL");
  }
  expect(readFileSync(join(folder, "server.pid"), "utf8")).toMatch(/^\d+\n$/);
  (await openDataDir(folder)).release();
});

it("explains an unusable folder", async () => {
  const path = join(folder, "file");
  writeFileSync(path, "");
  // /proc refuses new folders with ENOENT, as if /proc itself were missing.
  for (const wrong of [
    path,
    join(path, "below"),
    ...(process.platform === "linux" ? ["/proc/nope", "/proc/nope/below"] : []),
  ]) {
    try {
      await openDataDir(wrong);
      expect.unreachable();
    } catch (error) {
      if (!StartError.isInstance(error)) throw error;
      expect(error.message).toContain(wrong);
      expect(error.hint).toContain("--data-dir");
    }
  }
});

it("keeps a damaged secret, because everything that it signed would be lost", () => {
  writeFileSync(join(folder, "secret.key"), "short");
  expect(() => findServerSecret(folder, undefined)).toThrow("damaged");
  expect(readFileSync(join(folder, "secret.key"), "utf8")).toBe("short");
});

it("keeps the admin key readable only by this user, and ignores a damaged file", () => {
  const path = adminKeyPath(folder);
  expect(readAdminKey(folder)).toBeUndefined();
  writeAdminKey(folder, { base_url: "http://a", api_key: "k" });
  chmodSync(path, 0o644);
  writeAdminKey(folder, { base_url: "http://b", api_key: "k" });
  expect(readAdminKey(folder)).toEqual({ base_url: "http://b", api_key: "k" });
  if (process.platform !== "win32") expect(modeOf(path)).toBe(0o600);
  writeFileSync(path, "{");
  expect(readAdminKey(folder)).toBeUndefined();
});
