import { type Instance, type InstanceEnd, type Placement, withAcquire } from "@shoal/placement";
import { Browser } from "@shoal/schemas";
import type { KyselyPlugin } from "kysely";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { RunningServer } from "../../main/running-server.ts";
import { sharedSecret, startSecondServer } from "../../testing/second-server.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

let first: TestServer;
let counted: RunningServer;
let statements = 0;

const counting: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  // Unlike the above, not called for parts of a statement.
  transformResult({ result }) {
    statements += 1;
    return Promise.resolve(result);
  },
};

/** Starts no browser, so that a create takes milliseconds and little background work falls into it. */
const aroundPlacement = (placement: Placement) =>
  withAcquire(placement, () => {
    const { promise: ended, resolve } = Promise.withResolvers<InstanceEnd>();
    const instance: Instance = {
      id: "stand-in",
      pid: process.pid,
      kind: placement.kind,
      upstream: undefined,
      sleep: {
        asleepSinceMs: undefined,
        after: () => undefined,
        touch: () => undefined,
        onChange: () => () => undefined,
      },
      request: () => Promise.reject(new Error("not used")),
      connect: () => Promise.reject(new Error("not used")),
      setUpstream: () => undefined,
      setExitHeaders: () => undefined,
      exitHeaders: undefined,
      transferred: () => ({ sentBytes: 0, receivedBytes: 0 }),
      setRules: () => undefined,
      setLocale: () => Promise.resolve(),
      setPolicies: () => Promise.resolve("0"),
      copy: () => Promise.reject(new Error("This instance has no copies.")),
      onEvent: () => () => undefined,
      ended,
      stop() {
        resolve({ reason: "stopped" });
        return Promise.resolve();
      },
    };
    return Promise.resolve(instance);
  });

beforeAll(async () => {
  first = await startTestServer({ secret_key: sharedSecret });
  const database = { ...first.database, query: first.database.query.withPlugin(counting) };
  counted = await startSecondServer({ ...first, database }, {}, { aroundPlacement });
});
afterAll(async () => {
  await counted.close();
  await first.close();
});

async function countOf(work: () => Promise<unknown>): Promise<number> {
  const before = statements;
  await work();
  return statements - before;
}

async function send(method: string, path: string): Promise<Response> {
  const response = await fetch(counted.baseUrl + path, { method, headers: { authorization: `Bearer ${first.key}` } });
  expect(response.ok).toBe(true);
  return response;
}

it("creates a session with one statement, and ends it with two", async () => {
  const creates: number[] = [];
  const ends: number[] = [];
  // Background work adds statements to some rounds: to more of them on a busy machine.
  const isDone = () => creates.length >= 10 && Math.min(...creates) <= 1 && Math.min(...ends) <= 2;
  for (let round = 0; round < 500 && !isDone(); round++) {
    let id = "";
    creates.push(
      await countOf(async () => (id = Browser.parse(await (await send("POST", "/browsers")).json()).session_id)),
    );
    ends.push(await countOf(() => send("DELETE", `/browsers/${id}`)));
  }
  expect({ create: Math.min(...creates), end: Math.min(...ends) }, String([creates, ends])).toEqual({
    create: 1,
    end: 2,
  });
});
