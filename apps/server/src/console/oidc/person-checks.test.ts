import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createId } from "@shoal/primitives";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Database } from "@shoal/database";
import { createSecrets } from "../../storage/secrets.ts";
import { openTestDatabase, silentLog } from "../../testing/test-database.ts";
import { ConsoleSessions } from "../console-sessions.ts";
import { People } from "../people.ts";
import type { Identity, OidcClient } from "./oidc-client.ts";
import { PersonChecks } from "./person-checks.ts";

const folder = mkdtempSync(join(tmpdir(), "shoal-checks-"));
const hourMs = 60 * 60_000;
let database: Database;
beforeAll(async () => {
  ({ database } = await openTestDatabase(folder));
});
afterAll(async () => {
  await database.close();
  rmSync(folder, { recursive: true, force: true });
});

interface Options {
  readonly refresh: () => Promise<Identity>;
  readonly pause?: () => Promise<unknown>;
}

/** The checks of one server. */
function server({ pause, refresh }: Options) {
  const sessions = new ConsoleSessions(database);
  const checks = new PersonChecks({
    client: { refresh } as unknown as OidcClient,
    checkMs: 15 * 60_000,
    people: new People(database),
    secrets: createSecrets("x".repeat(32)),
    sessions,
    log: silentLog as never,
    ...(pause && { pause }),
  });
  return { checks, sessions };
}

/** A person who signed in an hour ago. */
async function signedIn() {
  const subject = createId();
  const identity: Identity = {
    issuer: "https://id.example",
    subject,
    name: "Ada",
    email: "ada@example.com",
    grants: [{ project: "*", role: "viewer" }],
    refreshToken: "a token",
  };
  const nowMs = Date.now();
  const { sessions, checks } = server({ refresh: () => Promise.reject(new Error("not asked")) });
  const { token } = await checks.admit(identity, nowMs - hourMs / 2);
  const found = async () => {
    const session = await sessions.find(token, nowMs);
    if (session === undefined) throw new Error("no session");
    return session;
  };
  return { found, identity, nowMs, subject };
}

it("waits for the check of another server, and accepts its result", async () => {
  const { found, identity, nowMs, subject } = await signedIn();
  const before = await found();
  const asked = Promise.withResolvers<undefined>();
  const answer = Promise.withResolvers<Identity>();
  const first = server({
    refresh: () => {
      asked.resolve(undefined);
      return answer.promise;
    },
  });
  const current = first.checks.current(before, nowMs);
  await asked.promise;
  const after = await found();
  let waiting = 0;
  const other = () =>
    server({
      refresh: () => Promise.reject(new Error("asked twice")),
      async pause() {
        waiting += 1;
        if (waiting === 2) answer.resolve(identity);
        await current;
      },
    });
  // One has read the session before the claim, one after it.
  const people = await Promise.all([before, after].map((session) => other().checks.current(session, nowMs)));
  expect(people).toMatchObject([{ subject }, { subject }]);
  expect(await current).toMatchObject({ subject });
  expect(waiting).toBe(2);
});

it("does not wait after its own check failed, and for a limited time for that of another server", async () => {
  const { found, nowMs } = await signedIn();
  const refresh = () => Promise.reject(new Error("the provider is down"));
  let pauses = 0;
  const pause = () => Promise.resolve((pauses += 1));
  const [own, other] = [server({ refresh, pause }), server({ refresh, pause })];
  expect(await own.checks.current(await found(), nowMs)).toBeUndefined();
  expect(await own.checks.current(await found(), nowMs)).toBeUndefined();
  expect(pauses).toBe(0);
  expect(await other.checks.current(await found(), nowMs)).toBeUndefined();
  expect(pauses).toBe(25);
});
