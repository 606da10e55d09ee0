import { findChromium } from "@shoal/placement";
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const windows = process.platform === "win32";
let server: TestServer;
let folder: string;
let broken: string;
let held: string;

beforeAll(async () => {
  if (windows) return;
  const found = await findChromium({});
  if (found === undefined) throw new Error("These tests need a Chromium.");
  folder = mkdtempSync(join(tmpdir(), "shoal-broken-"));
  broken = join(folder, "broken");
  held = join(folder, "held");
  const chromium = join(folder, found.kind === "headless_shell" ? "chrome-headless-shell" : "chromium");
  writeFileSync(
    chromium,
    `#!/bin/sh\nif [ "$1" != --version ]; then\n  [ ! -e '${broken}' ] || exit 1\n  while [ -e '${held}' ]; do sleep 0.1; done\nfi\nexec '${found.executable}' "$@"\n`,
  );
  chmodSync(chromium, 0o755);
  server = await startTestServer({ chromium });
});
afterAll(async () => {
  if (windows) return;
  await server.close();
  rmSync(folder, { recursive: true });
});

const rows = () => server.database.query.selectFrom("sessions").select(["name", "ended_at"]).execute();

it.skipIf(windows)(
  "removes a session whose browser does not start, and frees its name (needs a POSIX shell)",
  async () => {
    writeFileSync(broken, "");
    for (const body of [{ name: "phoenix" }, {}]) {
      expect(await server.request("POST", "/browsers", { body })).toMatchObject({
        status: 500,
        body: { code: "internal_error", message: expect.stringContaining("did not start") as unknown },
      });
    }
    expect(await rows()).toEqual([]);
    rmSync(broken);
    expect((await server.request("POST", "/browsers", { body: { name: "phoenix" } })).status).toBe(200);
    expect((await server.request("DELETE", "/browsers/phoenix")).status).toBe(204);
  },
);

it.skipIf(windows)("removes a session whose client disconnects during the start (needs a POSIX shell)", async () => {
  const before = (await rows()).length;
  const client = new AbortController();
  // It cannot start before the client disconnects.
  writeFileSync(held, "");
  try {
    const creating = server.request("POST", "/browsers", { body: { name: "unwanted" }, signal: client.signal });
    await expect
      .poll(async () => (await rows()).some(({ name, ended_at }) => name === "unwanted" && ended_at === null))
      .toBe(true);
    client.abort();
    await expect(creating).rejects.toThrow();
    await expect.poll(async () => (await rows()).length).toBe(before);
  } finally {
    rmSync(held);
  }
});
