import { existsSync, mkdtempSync, readFileSync, renameSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import type { Settings } from "../../config/settings.ts";
import { openTestDatabase, type TestDatabase } from "../../testing/test-database.ts";
import { unlimited } from "../../testing/unlimited.ts";
import { startServer } from "../server.ts";

let folder: string;
let database: TestDatabase["database"];
const inData = (name: string) => join(folder, "data", name);

/** Starts a server on the same database, and stops it. */
async function start(settings: Settings = {}): Promise<void> {
  const server = await startServer(
    completeConfig({ data_dir: inData("."), port: 0, placement: "process", warm: 0, ...unlimited, ...settings }),
    { logTo: new PassThrough().resume(), database: { ...database, close: () => Promise.resolve() } },
  );
  await server.close();
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-secret-"));
  ({ database } = await openTestDatabase(join(folder, "database")));
  await start();
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

it("starts with its secret again, and refuses to replace it when it is lost", async () => {
  await start();
  const kept = join(folder, "kept.key");
  renameSync(inData("secret.key"), kept);
  const secret = readFileSync(kept, "utf8").trim();
  try {
    await expect(start()).rejects.toThrow(
      `${inData("secret.key")} is missing, and the database has data of an earlier secret`,
    );
    await expect(start({ previous_secret_keys: ["another secret of 32 characters!!"] })).rejects.toThrow("is missing");
    // A container that lost its volume, with the database elsewhere.
    await expect(start({ data_dir: join(folder, "new") })).rejects.toThrow("is missing");
    expect([existsSync(inData("secret.key")), existsSync(join(folder, "new", "secret.key"))]).toEqual([false, false]);
    await start({ secret_key: secret });
  } finally {
    renameSync(kept, inData("secret.key"));
  }
  await start();
});

it("creates another secret when the earlier one is among previous_secret_keys", async () => {
  const secret = readFileSync(inData("secret.key"), "utf8").trim();
  rmSync(inData("secret.key"));
  await start({ previous_secret_keys: ["another secret of 32 characters!!", secret] });
  expect(readFileSync(inData("secret.key"), "utf8").trim()).not.toBe(secret);
  await start();
});

it("starts with a new secret that the settings name, when the earlier one is lost", async () => {
  rmSync(inData("secret.key"));
  await start({ secret_key: "a new secret of 32 characters or more" });
  await expect(start()).rejects.toThrow("is missing");
});
