import { PlacementError } from "@shoal/placement";
import { ServiceError } from "@shoal/router";
import { Readable } from "node:stream";
import { pino } from "pino";
import { expect, it } from "vitest";
import type { Access } from "../../../http/auth/access.ts";
import { RowRun, type RowRunParts } from "./row-run.ts";
import { findCallersSession, newRowSession, type RowSessionParts } from "./row-session.ts";
import type { RowChange } from "./run-store.ts";

const done = JSON.stringify({ found_by: null });

/** A row of one step, whose session a person takes over while the step runs. */
function takenRow(answer: () => Promise<unknown>, role?: Access["role"], onAccess = (): void => undefined) {
  const log: string[] = [];
  const active: { id: string }[] = [];
  const released = [Promise.withResolvers<undefined>(), Promise.withResolvers<undefined>()] as const;
  const [first, second] = released;
  const cancel = new AbortController();
  const canceled = new Promise<void>((resolve) => {
    cancel.signal.addEventListener("abort", () => {
      resolve();
    });
  });
  let calls = 0;
  const places = { taken: 1 };
  const request = () => {
    calls += 1;
    if (calls === 1) return Promise.resolve(Object.assign(Readable.from([Buffer.from(done)]), { statusCode: 200 }));
    active.push({ id: "0" }, { id: "1" });
    return answer();
  };
  const access = { projectId: "project", key: { id: "key", name: "key", deployment_id: null } } as Access;
  const parts = {
    sessions: {
      create: () => Promise.resolve({ row: { id: "session" } }),
      delete: () => Promise.resolve(log.push("deleted")),
      instanceHere: () => Promise.resolve({ request }),
    },
    handoffs: { store: { active: () => Promise.resolve(active[0]) } },
    gate: {
      async ended(id: string) {
        await Promise.race([released[id === "0" ? 0 : 1].promise, canceled]);
        active.shift();
      },
    },
    async presentAccess() {
      await Promise.resolve();
      onAccess();
      return { ...access, role };
    },
    line: { take: (_project: string, _limits: object, attempt: () => Promise<string>) => attempt() },
    log: pino({ level: "silent" }),
  } as unknown as RowRunParts & RowSessionParts;
  const step = { action: "expect", expect: [], timeout_ms: 1000, on_divergence: "stop" };
  const row = new RowRun(parts, {
    flow: { name: "flow", start_url: "https://shop.example/", steps: [step] },
    access,
    session: newRowSession(parts, access, undefined),
    values: { texts: new Map(), secrets: new Map() },
    ...{ names: {}, personSeconds: 60, signal: cancel.signal },
    running: { leave: () => (places.taken -= 1), goOn: () => (places.taken += 1) },
    change: ({ status }: RowChange) =>
      Promise.resolve(!cancel.signal.aborted && (status === undefined || log.push(status) > 0)),
    onDivergence: () => Promise.resolve(),
  } as unknown as ConstructorParameters<typeof RowRun>[1]);
  return { access, cancel, first, log, parts, places, row, second };
}

const succeeds = () => Promise.resolve(Object.assign(Readable.from([Buffer.from(done)]), { statusCode: 200 }));
const breaks = () => Promise.reject(new PlacementError("instance_lost", "No answer."));

it.each([
  ["succeeds", succeeds, "succeeded"],
  ["fails", breaks, "failed"],
] as const)("leaves the session to a person if the last step %s", async (_title, answer, status) => {
  const { first, log, places, row, second } = takenRow(answer);
  const ended = row.run();
  await expect.poll(() => log).toEqual(["running", "waiting"]);
  // Other rows run meanwhile.
  await expect.poll(() => places.taken).toBe(0);
  first.resolve(undefined);
  // Another person took over.
  await expect.poll(() => log).toEqual(["running", "waiting", "waiting"]);
  second.resolve(undefined);
  expect(await ended).toBe(status);
  expect(log).toEqual(["running", "waiting", "waiting", "deleted", status]);
  expect(places.taken).toBe(1);
});

/** As the driver reports a connection that the database closed. */
const outage = () => Promise.reject(Object.assign(new Error("terminating"), { severity: "FATAL", code: "57P01" }));

it("waits for a person through an outage of the database, and keeps the session", async () => {
  const { first, log, parts, row, second } = takenRow(succeeds);
  const { gate, handoffs } = parts;
  const active = handoffs.store.active.bind(handoffs.store);
  const ended = gate.ended.bind(gate);
  let looks = 0;
  let waits = 0;
  // The look after the last step fails, and then the wait.
  Object.assign(handoffs.store, { active: (id: string) => (++looks === 3 ? outage() : active(id)) });
  Object.assign(gate, { ended: (id: string, signal: AbortSignal) => (++waits === 1 ? outage() : ended(id, signal)) });
  const running = row.run();
  await expect.poll(() => waits).toBe(2);
  expect(log).toEqual(["running", "waiting"]);
  first.resolve(undefined);
  second.resolve(undefined);
  expect(await running).toBe("succeeded");
  expect(log).toEqual(["running", "waiting", "waiting", "deleted", "succeeded"]);
});

it("ends the session of a canceled run at once, also under a person", async () => {
  const { cancel, log, places, row } = takenRow(succeeds);
  const ended = row.run();
  await expect.poll(() => log).toEqual(["running", "waiting"]);
  cancel.abort();
  expect(await ended).toBe("canceled");
  expect(log).toEqual(["running", "waiting", "deleted"]);
  expect(places.taken).toBe(1);
});

it("begins no row for a person without the role", async () => {
  const { log, row } = takenRow(succeeds, "viewer");
  expect(await row.run()).toBe("failed");
  expect(log).toEqual(["failed"]);
});

it("ends a row before its next step when the key of the run was deleted", async () => {
  let asked = 0;
  const { log, row } = takenRow(succeeds, undefined, () => {
    asked += 1;
    // At the start of the row, for its session, and before its first step.
    if (asked > 3) throw new ServiceError(401, "unauthorized", "The key was deleted.");
  });
  expect(await row.run()).toBe("failed");
  expect(log).toEqual(["running", "deleted", "failed"]);
});

it("refuses a session of a person without the role", async () => {
  const { access, parts } = takenRow(succeeds);
  await expect(findCallersSession(parts, { ...access, role: "viewer" }, "session")).rejects.toMatchObject({
    status: 403,
    message: expect.stringContaining("browsers.act") as unknown,
  });
});
