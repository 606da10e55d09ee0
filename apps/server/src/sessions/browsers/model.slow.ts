import { Browser, ErrorBody } from "@shoal/schemas";
import fc from "fast-check";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { afterAll, beforeAll, expect, it } from "vitest";
import { completeConfig } from "../../config/config.ts";
import type { RunningServer } from "../../main/running-server.ts";
import { startServer } from "../../main/server.ts";

import { unlimited } from "../../testing/unlimited.ts";
interface ModelSession {
  name: string | undefined;
  tags: Record<string, string>;
  ended: string | undefined;
}

interface Model {
  readonly sessions: ModelSession[];
}

/** The service, and the ids of the sessions in the same order. */
interface Real {
  readonly ids: string[];
}

const most = 3;
let folder: string;
let server: RunningServer;

async function start(): Promise<void> {
  // The log is discarded.
  const log = new PassThrough().resume();
  server = await startServer(
    completeConfig({
      data_dir: join(folder, "data"),
      port: 0,
      placement: "process",
      warm: 0,
      drain_seconds: 5,
      max_sessions: most,
      max_sessions_per_project: most,
      ...unlimited,
    }),
    { logTo: log },
  );
}

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "shoal-model-"));
  await start();
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
});

async function send(method: string, path: string, body?: object): Promise<{ status: number; body: unknown }> {
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: { authorization: `Bearer ${server.apiKey ?? ""}`, ...(body && { "content-type": "application/json" }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const code = (body: unknown) => ErrorBody.parse(body).code;
const live = ({ sessions }: Model) => sessions.filter(({ ended }) => ended === undefined);

/** Compares each session with the model through every operation that shows it. */
async function check(model: Model, real: Real): Promise<void> {
  const listed = (await send("GET", "/browsers?status=all&limit=100")).body as Browser[];
  const mine = new Map(listed.map((session) => [session.session_id, session]));
  const active = ((await send("GET", "/browsers")).body as Browser[]).map(({ session_id }) => session_id).sort();
  expect(active).toEqual(real.ids.filter((_id, index) => model.sessions[index]?.ended === undefined).sort());
  for (const [index, session] of model.sessions.entries()) {
    const id = real.ids[index] ?? "";
    const shown = mine.get(id);
    expect([shown?.name, shown?.tags ?? {}, shown?.ended_reason, shown?.deleted_at === undefined]).toEqual([
      session.name,
      session.tags,
      session.ended,
      session.ended === undefined,
    ]);
    expect((await send("GET", `/browsers/${id}`)).status).toBe(session.ended === undefined ? 200 : 404);
    expect((await send("GET", `/browsers/${id}?include_deleted=true`)).status).toBe(200);
  }
  for (const name of names) {
    const { body, status } = await send("GET", `/browsers/${name}`);
    const index = model.sessions.findIndex((session) => session.name === name && session.ended === undefined);
    if (index === -1) expect(status).toBe(404);
    else expect(Browser.parse(body).session_id).toBe(real.ids[index]);
  }
}

/** Returns the index of a running session; `which` may be any number. */
function liveAt(model: Model, which: number): number {
  const running = [...model.sessions.keys()].filter((index) => model.sessions[index]?.ended === undefined);
  return running[which % running.length] ?? -1;
}

type Command = fc.AsyncCommand<Model, Real>;
const names = ["ada", "grace"];

class Create implements Command {
  readonly name: string | undefined;
  readonly tags: Record<string, string>;
  constructor(name: string | undefined, tags: Record<string, string>) {
    this.name = name;
    this.tags = tags;
  }
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    const { body, status } = await send("POST", "/browsers", {
      timeout_seconds: 3600,
      tags: this.tags,
      ...(this.name !== undefined && { name: this.name }),
    });
    if (live(model).length >= most) expect([429, 529]).toContain(status);
    else if (this.name !== undefined && live(model).some(({ name }) => name === this.name))
      expect([status, code(body)]).toEqual([409, "name_taken"]);
    else {
      expect(status, JSON.stringify(body)).toBe(200);
      real.ids.push(Browser.parse(body).session_id);
      model.sessions.push({ name: this.name, tags: this.tags, ended: undefined });
    }
    await check(model, real);
  }
  toString = (): string => `create ${this.name ?? ""} ${JSON.stringify(this.tags)}`;
}

class Rename implements Command {
  readonly which: number;
  readonly name: string | null;
  constructor(which: number, name: string | null) {
    this.which = which;
    this.name = name;
  }
  check = (model: Readonly<Model>): boolean => live(model).length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const index = liveAt(model, this.which);
    const { body, status } = await send("PATCH", `/browsers/${real.ids[index] ?? ""}`, { name: this.name });
    const isTaken =
      this.name !== null &&
      model.sessions.some(({ ended, name }, other) => other !== index && ended === undefined && name === this.name);
    if (isTaken) expect([status, code(body)]).toEqual([409, "name_taken"]);
    else {
      expect(status, JSON.stringify(body)).toBe(200);
      const session = model.sessions[index];
      if (session !== undefined) session.name = this.name ?? undefined;
    }
    await check(model, real);
  }
  toString = (): string => `rename to ${String(this.name)}`;
}

class Tag implements Command {
  readonly which: number;
  readonly tags: Record<string, string>;
  constructor(which: number, tags: Record<string, string>) {
    this.which = which;
    this.tags = tags;
  }
  check = (model: Readonly<Model>): boolean => live(model).length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const index = liveAt(model, this.which);
    expect((await send("PATCH", `/browsers/${real.ids[index] ?? ""}`, { tags: this.tags })).status).toBe(200);
    const session = model.sessions[index];
    if (session !== undefined) session.tags = this.tags;
    await check(model, real);
  }
  toString = (): string => `tag ${JSON.stringify(this.tags)}`;
}

class Delete implements Command {
  readonly which: number;
  constructor(which: number) {
    this.which = which;
  }
  check = (model: Readonly<Model>): boolean => live(model).length > 0;
  async run(model: Model, real: Real): Promise<void> {
    const index = liveAt(model, this.which);
    const session = model.sessions[index];
    const id = session?.name ?? real.ids[index] ?? "";
    // Both at once, by name and by id: at least one succeeds.
    const replies = await Promise.all([
      send("DELETE", `/browsers/${id}`),
      send("DELETE", `/browsers/${real.ids[index] ?? ""}`),
    ]);
    expect(replies.map(({ status }) => status).filter((status) => status !== 204 && status !== 404)).toEqual([]);
    expect(replies.some(({ status }) => status === 204)).toBe(true);
    if (session !== undefined) session.ended = "deleted";
    await check(model, real);
  }
  toString = (): string => "delete";
}

class Restart implements Command {
  check = (): boolean => true;
  async run(model: Model, real: Real): Promise<void> {
    await server.close();
    await start();
    for (const session of live(model)) session.ended = "server_stopped";
    await check(model, real);
  }
  toString = (): string => "restart";
}

class TimeOut {
  async run(model: Model, real: Real): Promise<void> {
    const { body } = await send("POST", "/browsers", { timeout_seconds: 10 });
    const { session_id } = Browser.parse(body);
    real.ids.push(session_id);
    await expect
      .poll(
        async () =>
          Browser.parse((await send("GET", `/browsers/${session_id}?include_deleted=true`)).body).ended_reason,
      )
      .toBe("timeout");
    model.sessions.push({ name: undefined, tags: {}, ended: "timeout" });
    await check(model, real);
  }
}

const tags = fc.dictionary(fc.constantFrom("team", "run"), fc.constantFrom("a", "b"), { maxKeys: 2 });
const model: Model = { sessions: [] };
const real: Real = { ids: [] };

it("matches a simple model for any sequence of operations on sessions", async () => {
  const commands = [
    fc
      .tuple(fc.option(fc.constantFrom(...names), { nil: undefined }), tags)
      .map(([name, labels]) => new Create(name, labels)),
    fc
      .tuple(fc.option(fc.constantFrom(...names), { nil: undefined }), tags)
      .map(([name, labels]) => new Create(name, labels)),
    fc.tuple(fc.nat(5), fc.option(fc.constantFrom(...names))).map(([which, name]) => new Rename(which, name)),
    fc.tuple(fc.nat(5), tags).map(([which, labels]) => new Tag(which, labels)),
    fc.nat(5).map((which) => new Delete(which)),
    fc.constant(new Restart()),
  ];
  // All runs share one history: ended sessions must stay unchanged.
  await fc.assert(
    fc.asyncProperty(fc.commands(commands, { maxCommands: 10 }), async (steps) => {
      await fc.asyncModelRun(() => ({ model, real }), steps);
    }),
    { numRuns: 4, endOnFailure: true },
  );
  while (live(model).length >= most) await new Delete(0).run(model, real);
  await new TimeOut().run(model, real);
  await new Restart().run(model, real);
  expect(live(model)).toEqual([]);
});
