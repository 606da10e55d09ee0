import { createId } from "@shoal/primitives";
import { expect, it } from "vitest";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { FlowRow } from "../flows/flow-store.ts";
import { LoginRun, type LoginRunParts } from "./login-run.ts";

/** A login whose browser does not start, over a database that fails for some writes. */
function runWithoutBrowser({ failingWrites, expiresInMs }: { failingWrites: number; expiresInMs: number }) {
  const written: string[] = [];
  let left = failingWrites;
  const silent = () => undefined;
  const parts = {
    log: { debug: silent, info: silent, warn: silent, error: silent },
    sessions: { create: () => Promise.reject(new Error("no browser")) },
    flows: {
      change(_id: string, { kind }: { kind: string }) {
        if (left-- > 0) return Promise.reject(new Error("the database is gone"));
        written.push(kind);
        return Promise.resolve(true);
      },
    },
  } as unknown as LoginRunParts;
  const now = Date.now();
  const flow = {
    id: createId(),
    status: "IN_PROGRESS",
    step: "DISCOVERING",
    question: null,
    interaction_id: null,
    asked_at: null,
    created_at: new Date(now).toISOString(),
    expires_at: new Date(now + expiresInMs).toISOString(),
  } as unknown as FlowRow;
  return { parts, run: () => new LoginRun(parts, {} as ConnectionRow, flow), written };
}

it("ends its browser when the database fails after the start", async () => {
  const { parts, run } = runWithoutBrowser({ failingWrites: 0, expiresInMs: 60_000 });
  const ended: string[] = [];
  Object.assign(parts, {
    sessions: {
      create: () => Promise.resolve({ row: { id: "the session" } }),
      instanceHere: () => Promise.resolve({ ended: new Promise(() => undefined) }),
      delete(_projectId: string, id: string) {
        ended.push(id);
        return Promise.resolve();
      },
    },
  });
  Object.assign(parts.flows, { note: () => Promise.reject(new Error("the database is gone")) });
  await run().done;
  expect(ended).toEqual(["the session"]);
});

it("records its failure after a database outage, and never rejects", async () => {
  const { run, written } = runWithoutBrowser({ failingWrites: 3, expiresInMs: 60_000 });
  await expect(run().done).resolves.toBeUndefined();
  expect(written).toEqual(["failed"]);
});

it("gives up when the login is stopped during the outage", async () => {
  const { run, written } = runWithoutBrowser({ failingWrites: Infinity, expiresInMs: 60_000 });
  const login = run();
  login.stop();
  await expect(login.done).resolves.toBeUndefined();
  expect(written).toEqual([]);
});

it("does not reject when its time ends during the outage", async () => {
  const { run } = runWithoutBrowser({ failingWrites: 4, expiresInMs: 0 });
  await expect(run().done).resolves.toBeUndefined();
});
