import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import type { Settings } from "../../config/settings.ts";
import type { RunningServer } from "../../main/running-server.ts";
import { startServer } from "../../main/server.ts";
import { shoalServer } from "../../main/shoal-server.ts";
import { unlimited } from "../../testing/unlimited.ts";

const [first, second] = ["first-secret-".repeat(4), "second-secret-".repeat(4)];
const state = {
  cookies: [
    {
      ...{ name: "signed_in", value: "as-ada", domain: "shop.example", path: "/", expires: -1 },
      ...{ httpOnly: true, secure: true, sameSite: "Lax" },
    },
  ],
  origins: [],
};
let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "shoal-key-"));
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

async function run(
  settings: Settings,
  use: (server: RunningServer, log: () => string) => Promise<void>,
): Promise<void> {
  let log = "";
  const logTo = new PassThrough();
  logTo.on("data", (chunk: Buffer) => (log += chunk.toString()));
  const server = await startServer(
    completeConfig({ data_dir: folder, port: 0, placement: "process", warm: 0, ...unlimited, ...settings }),
    { logTo },
  );
  try {
    await use(server, () => log);
  } finally {
    await server.close();
  }
}

const authorization = ({ apiKey }: RunningServer) => ({ authorization: `Bearer ${apiKey ?? ""}` });

async function ask(server: RunningServer, method: string, path: string, body?: object) {
  const answer = await fetch(server.baseUrl + path, {
    method,
    headers: { ...authorization(server), "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, body: text === "" ? undefined : (JSON.parse(text) as unknown) };
}

/** The saved state of the profile; `undefined` if it cannot be read. */
async function stateOf(server: RunningServer): Promise<string | undefined> {
  const answer = await fetch(`${server.baseUrl}/profiles/ada/download`, { headers: authorization(server) });
  const bytes = await answer.bytes().catch(() => undefined);
  return answer.ok && bytes !== undefined ? Buffer.from(bytes).toString("hex") : undefined;
}

it("reads data of the time before a change of secret_key, and vouches for the audit log", async () => {
  let saved: string | undefined;
  await run({ secret_key: first }, async (server) => {
    expect((await ask(server, "POST", "/profiles", { name: "ada" })).status).toBe(201);
    // On a busy machine, the service gives up reading the request.
    await eventuallyPasses(async () => {
      expect((await ask(server, "PUT", "/profiles/ada/storage_state", state)).status).toBeLessThan(300);
    });
    saved = await stateOf(server);
    expect(saved).toMatch(/./);
    expect((await ask(server, "GET", "/audit-logs/verify")).body).toMatchObject({ valid: true });
  });

  await run({ secret_key: second, previous_secret_keys: [first] }, async (server, log) => {
    expect(await stateOf(server)).toBe(saved);
    expect((await ask(server, "GET", "/audit-logs/verify")).body).toMatchObject({ valid: true });
    expect(log()).not.toContain("another secret_key");
    const stderr = new PassThrough();
    const env = { SHOAL_SECRET_KEY: second, SHOAL_PREVIOUS_SECRET_KEYS: first };
    expect(
      await shoalServer(["rewrap", "--data-dir", folder], env, {
        stdin: new PassThrough(),
        stdout: new PassThrough(),
        stderr,
      }),
    ).toBe(0);
    expect(String(stderr.read())).toContain("Keep previous_secret_keys");
  });

  // Without the old key, the log is still valid, and the state names the key that is missing.
  await run({ secret_key: second }, async (server, log) => {
    expect((await ask(server, "GET", "/audit-logs/verify")).body).toMatchObject({ valid: true });
    expect(await stateOf(server)).toBeUndefined();
    expect(log()).toContain("cannot decrypt a saved profile state");
  });

  await run({ secret_key: "third-secret-".repeat(4) }, (_server, log) => {
    expect(log()).toContain("was sealed with another secret_key");
    return Promise.resolve();
  });
});
