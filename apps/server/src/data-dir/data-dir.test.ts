import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { StartError } from "../start-error.ts";
import { adminKeyPath, readAdminKey, writeAdminKey } from "./admin-key.ts";
import { openDataDir, readServerSecret } from "./data-dir.ts";

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-data-"));
});
afterEach(() => {
  rmSync(folder, { recursive: true });
});

const modeOf = (path: string) => statSync(path).mode & 0o777;

it("makes the folder and its secrets readable by this user alone, and finds them again", () => {
  const path = join(folder, "deep", "data");
  const first = openDataDir(path);
  const secret = readServerSecret(path, undefined);
  first.release();
  const second = openDataDir(path);
  expect(second.serverId).toBe(first.serverId);
  expect(readServerSecret(path, undefined)).toBe(secret);
  expect(readServerSecret(path, "configured")).toBe("configured");
  if (process.platform !== "win32") {
    expect(modeOf(path)).toBe(0o700);
    expect(modeOf(join(path, "secret.key"))).toBe(0o600);
  }
  second.release();
  expect(readdirSync(path).sort()).toEqual(["secret.key", "server-id", "sessions"]);
});

it("refuses a folder that a running server uses, and names it", () => {
  const held = openDataDir(folder);
  expect(() => openDataDir(folder)).toThrow(new RegExp(`in use by the Shoal server with process id ${String(process.pid)}`));
  held.release();
  openDataDir(folder).release();
});

it("takes over from a server that was killed, also when its process id belongs to another program now", () => {
  writeFileSync(join(folder, "server.lock"), "999999999 1 x");
  openDataDir(folder).release();
  if (process.platform === "linux") {
    writeFileSync(join(folder, "server.lock"), `${String(process.ppid)} 1 x`);
    openDataDir(folder).release();
  }
  expect(existsSync(join(folder, "server.lock"))).toBe(false);
});

it("explains a folder that cannot be used", () => {
  const path = join(folder, "file");
  writeFileSync(path, "");
  // /proc refuses new folders with ENOENT, as if its own were missing.
  for (const wrong of [path, join(path, "below"), ...(process.platform === "linux" ? ["/proc/nope", "/proc/nope/below"] : [])]) {
    try {
      openDataDir(wrong);
      expect.unreachable();
    } catch (error) {
      if (!StartError.isInstance(error)) throw error;
      expect(error.message).toContain(wrong);
      expect(error.hint).toContain("--data-dir");
    }
  }
});

it("does not replace a damaged secret: everything that it signed would be lost", () => {
  writeFileSync(join(folder, "secret.key"), "short");
  expect(() => readServerSecret(folder, undefined)).toThrow("damaged");
  expect(readFileSync(join(folder, "secret.key"), "utf8")).toBe("short");
});

it("keeps the admin key for this user alone, and takes a damaged file for none", () => {
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
