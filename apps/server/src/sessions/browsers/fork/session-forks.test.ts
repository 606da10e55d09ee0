import { PlacementError } from "@shoal/placement";
import { KeyedMutex } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { ForkBrowser } from "@shoal/schemas";
import { pino } from "pino";
import { expect, it } from "vitest";
import type { SessionRow } from "../session-store.ts";
import { SessionForks, type SessionForksParts } from "./session-forks.ts";

const request = { mode: "restored", count: 6 } as const;
const exit = { url: "http://exit.example:8080" };

/** Forks of one session, with the parts that a test replaces. */
function forksOf(change: { readonly row?: object; readonly onStart?: (place: number) => void } = {}) {
  const mutex = new KeyedMutex<string>();
  const controller = new AbortController();
  const state = {
    row: {
      id: "parent",
      project_id: "p",
      api_key_id: "key",
      invocation_id: null,
      profile_id: null,
      proxy: { id: "proxy" },
      options: {},
      ...change.row,
    },
    isTaken: false,
    starts: [] as unknown[],
    invocations: [] as unknown[],
    ended: [] as string[],
    dropped: 0,
  };
  const instance = {
    upstream: exit as typeof exit | undefined,
    ended: new Promise(() => undefined),
    copy: () =>
      Promise.reject(new PlacementError("no_capacity", "Other sessions are being copied.", { retryAfterSeconds: 15 })),
  };
  const sessions = new Map([["parent", { row: state.row, instance, captured: [] }]]);
  const parts = {
    runner: {
      sessions,
      instanceOf: () => instance,
      requireRoom: () => undefined,
      view: (row: SessionRow) => ({ row }),
      end: ({ row }: { readonly row: SessionRow }) => state.ended.push(row.id),
    },
    choices: { network: async () => ({ routes: [], headers: undefined }) },
    defaults: { record: async () => undefined },
    starter: {
      async run({ row }: { readonly row: SessionRow }, { proxy }: { readonly proxy: unknown }) {
        state.invocations.push(row.invocation_id);
        change.onStart?.(state.starts.push(proxy));
      },
    },
    profiles: { readForFork: async () => ({ open: () => undefined, drop: async () => (state.dropped += 1) }) },
    signInBrowsers: { noteFork: () => undefined },
    handoffs: {
      admit: async () => undefined,
      async requireNone() {
        if (state.isTaken) throw new ServiceError(409, "handoff_active", "taken");
      },
    },
    updates: { exclusively: <Result>(id: string, work: () => Promise<Result>) => mutex.run(id, work) },
    existing: async () => state.row,
    store: {
      async requireActiveInvocation(_projectId: string, id: string) {
        if (id === "ended") throw new ServiceError(409, "conflict", "ended");
      },
    },
    placement: {},
    log: pino({ level: "silent" }),
  } as unknown as SessionForksParts;
  const by = {
    apiKeyId: "key",
    usesSecrets: true,
    signal: controller.signal,
    requirePolicy({ profile_id }: SessionRow) {
      if (profile_id !== null) throw new ServiceError(403, "insufficient_scope", "outside");
    },
  };
  const fork = (body: ForkBrowser = request) =>
    new SessionForks(parts).fork("p", "parent", ForkBrowser.parse(body), by);
  return { controller, fork, instance, mutex, sessions, state };
}

it("keeps the exit of the parent for forks that start after its end", async () => {
  const { fork, sessions, state } = forksOf({ onStart: () => sessions.delete("parent") });
  expect((await fork()).views).toHaveLength(6);
  expect(state.starts).toEqual(Array.from({ length: 6 }, () => ({ upstream: exit })));
});

it("refuses to fork a session whose proxy is unknown", async () => {
  const { fork, instance, state } = forksOf();
  instance.upstream = undefined;
  await expect(fork()).rejects.toMatchObject({ status: 409 });
  state.row.proxy = { mode: "direct" } as never;
  expect((await fork()).views).toHaveLength(6);
});

it("judges the profile and the handoff that the session has after its running change", async () => {
  for (const [change, code] of [
    [{ row: { profile_id: "profile" } }, "insufficient_scope"],
    [{ isTaken: true }, "handoff_active"],
  ] as const) {
    const { fork, mutex, state } = forksOf();
    const changing = Promise.withResolvers<undefined>();
    const changed = mutex.run("parent", () => changing.promise);
    const refused = expect(fork()).rejects.toMatchObject({ code });
    Object.assign(state, change);
    changing.resolve(undefined);
    await changed;
    await refused;
    expect(state.starts).toEqual([]);
  }
});

it("ends the started forks of a caller that has left", async () => {
  const forks = forksOf({
    onStart: (place) => {
      if (place === 4) forks.controller.abort(new Error("the caller left"));
    },
  });
  await expect(forks.fork()).rejects.toThrow("the caller left");
  expect(forks.state.ended).toHaveLength(4);
  expect(forks.state.dropped).toBe(1);
});

it("says how long to wait while other sessions are being copied, or restores the fork", async () => {
  const { fork } = forksOf({ row: { options: { forkable: true } } });
  await expect(fork({ mode: "exact" })).rejects.toMatchObject({ status: 409, retryAfterSeconds: 15 });
  expect(await fork({})).toMatchObject({ notExactBecause: "Other sessions are being copied." });
});

it.each([
  ["of the app's own forks while it runs", { invocation_id: "runs", api_key_id: "key" }, "runs"],
  ["of no fork after its end", { invocation_id: "ended", api_key_id: "key" }, null],
  ["of no fork by another key", { invocation_id: "runs", api_key_id: "app" }, null],
])("keeps the invocation %s", async (_which, row, invocation) => {
  const { fork, state } = forksOf({ row });
  await fork({ mode: "restored" });
  expect(state.invocations).toEqual([invocation]);
});
