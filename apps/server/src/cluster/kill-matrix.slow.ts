import { Browser, CreatedApiKey, type Deployment, Handoff, type Invocation, Project, UsageRow } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { connectionRow } from "../testing/connection-row.ts";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../testing/server-processes.ts";
import { zipOf } from "../testing/zip.ts";

/** Each round has a new pair of servers, and starts the kinds of work in another order. */
const rounds = Number(process.env.SHOAL_TEST_ROUNDS ?? 1);
const seed = Number(process.env.SHOAL_TEST_SEED ?? 29);

/** Work of one kind at the kill. */
interface Work {
  /** Right after the kill, before the server is declared dead. */
  readonly atKill?: () => Promise<void>;
  /** The result at the other server. */
  readonly outcome: () => Promise<void>;
}

/** Two servers, of which one is killed. Each kind of work has a project, so that they do not see each other. */
class Pair {
  readonly servers: ServerProcesses;
  readonly victim: ServerProcess;
  readonly other: ServerProcess;
  readonly #key: string;

  constructor(servers: ServerProcesses, victim: ServerProcess, other: ServerProcess, key = servers.key) {
    this.servers = servers;
    this.victim = victim;
    this.other = other;
    this.#key = key;
  }

  get query() {
    return this.servers.database.query;
  }

  async send(server: ServerProcess, target: string, body?: object, key = this.#key): Promise<unknown> {
    const [method = "", path = ""] = target.split(" ");
    const isJson = body !== undefined && !(body instanceof FormData);
    const response = await fetch(server.baseUrl + path, {
      method,
      headers: { authorization: `Bearer ${key}`, ...(isJson && { "content-type": "application/json" }) },
      ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    expect(response.ok, text).toBe(true);
    return text === "" ? undefined : JSON.parse(text);
  }

  async inProject(name: string): Promise<Pair> {
    const { id } = Project.parse(await this.send(this.other, "POST /org/projects", { name }));
    const { key } = CreatedApiKey.parse(await this.send(this.other, "POST /org/api_keys", { name, project_id: id }));
    return new Pair(this.servers, this.victim, this.other, key);
  }

  readonly create = async (server: ServerProcess) =>
    Browser.parse(await this.send(server, "POST /browsers", { timeout_seconds: 600 })).session_id;
}

let killedMs: number;

async function session(pair: Pair): Promise<Work> {
  const [lost, kept] = [await pair.create(pair.victim), await pair.create(pair.other)];
  const read = async (id: string) =>
    Browser.parse(await pair.send(pair.other, `GET /browsers/${id}?include_deleted=true`)).ended_reason;
  return {
    outcome: async () => {
      await expect.poll(() => read(lost)).toBe("instance_lost");
      expect(await read(kept)).toBeUndefined();
    },
  };
}

async function usage(pair: Pair): Promise<Work> {
  const { other, query, victim } = pair;
  const today = async (server: ServerProcess) => {
    const rows = ((await pair.send(server, "GET /usage")) as unknown[]).map((row) => UsageRow.parse(row));
    return {
      started: rows.reduce((sum, row) => sum + row.sessions_started, 0),
      seconds: rows.reduce((sum, row) => sum + row.session_minutes, 0) * 60,
      peak: Math.max(0, ...rows.map((row) => row.peak_concurrent_sessions)),
    };
  };
  const here = await pair.create(other);
  const beganMs = Date.now();
  const lost = await pair.create(victim);
  // Both servers see the same figures, whichever of them charges.
  await eventually(async () => (await today(victim)).seconds > 3);
  return {
    outcome: async () => {
      const ended = async () =>
        (
          await query
            .selectFrom("usage_sessions")
            .select("ended_at")
            .where("session_id", "=", lost)
            .executeTakeFirstOrThrow()
        ).ended_at;
      await expect.poll(ended).not.toBeNull();
      const lostMs = Date.parse((await ended()) ?? "");
      // The other server notices the loss after some seconds. That time does not count.
      expect(lostMs).toBeLessThanOrEqual(killedMs);
      // Heartbeats of a busy machine are late.
      expect(lostMs).toBeGreaterThan(Math.max(beganMs, killedMs - 30_000));
      await pair.send(other, `DELETE /browsers/${here}`);
      await expect.poll(async () => (await today(other)).started).toBe(2);
      await expect.poll(async () => (await today(other)).seconds).toBeGreaterThan((lostMs - beganMs) / 1000);
      expect((await today(other)).peak).toBe(2);
    },
  };
}

async function handoff(pair: Pair): Promise<Work> {
  const { other, query } = pair;
  const id = await pair.create(pair.victim);
  const path = `/browsers/${id}/handoff`;
  const { url = "" } = Handoff.parse(await pair.send(other, `POST ${path}`, { message: "Sign in" }));
  const link = (await pair.send(other, `POST /browsers/${id}/live_view_links`, {})) as { readonly url: string };
  // Any server opens them: the address of the living one.
  const there = (address: string) => other.baseUrl + new URL(address).pathname;
  expect((await fetch(`${there(url)}/handoff/take`, { method: "POST" })).status).toBe(200);
  expect(Handoff.parse(await pair.send(other, `GET ${path}`))).toMatchObject({ status: "taken", taken_by: "person" });
  // A wait is limited to a minute.
  const ending = async (): Promise<Handoff> => {
    for (;;) {
      const present = Handoff.parse(await pair.send(other, `GET ${path}?wait_seconds=50`));
      if (present.status !== "taken") return present;
    }
  };
  const waiting = ending();
  // Reported by the outcome.
  waiting.catch(() => undefined);
  return {
    atKill: async () => {
      expect(Handoff.parse(await pair.send(other, `GET ${path}`)).status).toBe("taken");
    },
    outcome: async () => {
      const ended = await waiting;
      expect(ended.status).toBe("canceled");
      expect(ended.url).toBeUndefined();
      expect(ended).toMatchObject({ released_by: null, session_id: id, ended_at: expect.any(String) as string });
      for (const [address, status, text] of [
        [url, 401, "This request was canceled."],
        [link.url, 404, "The session has ended"],
      ] as const) {
        const page = await fetch(there(address));
        expect([page.status, await page.text()]).toEqual([status, expect.stringContaining(text)]);
      }
      expect((await fetch(`${there(url)}/handoff/release`, { method: "POST" })).status).toBe(401);
      const active = await query
        .selectFrom("handoffs")
        .select("id")
        .where("session_id", "=", id)
        .where("status", "in", ["requested", "taken"])
        .execute();
      expect(active).toEqual([]);
    },
  };
}

const appSource = `
  const actions = new Map();
  (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map()).set("shop", { name: "shop", actions });
  const action = (name, handler) => actions.set(name, { handler, payload: undefined, output: undefined });
  action("count", (_context, payload) => payload);
  action("hang", async ({ invocation_id }) => {
    await fetch(process.env.SHOAL_BASE_URL + "/browsers", {
      method: "POST",
      headers: { authorization: "Bearer " + process.env.SHOAL_API_KEY, "content-type": "application/json" },
      body: JSON.stringify({ invocation_id, timeout_seconds: 3600 }),
    });
    await new Promise(() => setInterval(() => {}, 1000));
  });
`;

async function invocation(pair: Pair): Promise<Work> {
  const { other, query, victim } = pair;
  const form = new FormData();
  const archive = await zipOf({ "package.json": '{"type":"module"}', "index.js": appSource });
  form.set("file", new Blob([new Uint8Array(archive)]), "app.zip");
  form.set("entrypoint_rel_path", "index.js");
  const deployment = ((await pair.send(victim, "POST /deployments", form)) as Deployment).id;
  const status = async () => ((await pair.send(other, `GET /deployments/${deployment}`)) as Deployment).status;
  await eventually(async () => (await status()) === "running");
  const artifactOf = () =>
    query.selectFrom("deployments").select(["artifact", "attempts"]).where("id", "=", deployment).executeTakeFirst();
  const built = await artifactOf();
  const invoke = async (server: ServerProcess, action_name: string, more: object) =>
    (await pair.send(server, "POST /invocations", { app_name: "shop", action_name, ...more })) as Invocation;
  const { id } = await invoke(victim, "hang", { async: true });
  const sessions = () =>
    query.selectFrom("sessions").select(["id", "ended_at"]).where("invocation_id", "=", id).execute();
  await eventually(async () => (await sessions()).length === 1);
  return {
    outcome: async () => {
      const read = async () => (await pair.send(other, `GET /invocations/${id}`)) as Invocation;
      await expect.poll(async () => (await read()).status).toBe("failed");
      expect((await read()).status_reason).toBe("The server that ran the invocation was lost.");
      await expect.poll(async () => (await sessions())[0]?.ended_at).toEqual(expect.any(String));
      expect(await invoke(other, "count", { payload: "2" })).toMatchObject({ status: "succeeded", output: "2" });
      // The other server runs the deployment without a second build.
      expect(await artifactOf()).toEqual(built);
    },
  };
}

/** A connection whose check waits for the answer of a site. */
class HangingCheck {
  readonly #site: Server;
  readonly #visits: (() => void)[] = [];
  readonly id = createId();
  isHanging = true;

  constructor() {
    this.#site = createServer((_request, response) => {
      const answer = () =>
        response.setHeader("content-type", "text/html").end('<h1>Home</h1><a href="/logout">Log out</a>');
      if (this.isHanging) this.#visits.push(answer);
      else answer();
    });
  }

  async listen(): Promise<void> {
    await once(this.#site.listen(0, "127.0.0.1"), "listening");
  }

  get host(): string {
    return `127.0.0.1:${String((this.#site.address() as AddressInfo).port)}`;
  }

  /** Returns the id of the server that began the check. */
  async begin({ query }: ServerProcesses["database"]): Promise<string | null> {
    const { id: project_id } = await query.selectFrom("projects").select("id").executeTakeFirstOrThrow();
    const profile_id = createId();
    await query.insertInto("profiles").values({ id: profile_id, project_id, name: profile_id }).execute();
    await query
      .insertInto("auth_connections")
      .values({
        ...connectionRow({ id: this.id, project_id, profile_id }),
        domain: this.host,
        login_url: `http://${this.host}/`,
        status: "AUTHENTICATED",
        health_checks: true,
        signed_in_at: new Date(),
        next_check_at: new Date(),
      })
      .execute();
    await eventually(() => this.#visits.length > 0);
    return (await this.#read(query)).check_server_id;
  }

  readonly work = ({ query }: Pair): Promise<Work> => {
    this.isHanging = false;
    return Promise.resolve({
      outcome: async () => {
        await expect.poll(async () => (await this.#read(query)).last_auth_check_at).not.toBeNull();
        expect(await this.#read(query)).toMatchObject({
          status: "AUTHENTICATED",
          check_id: null,
          check_server_id: null,
        });
        const timeline = await query
          .selectFrom("auth_flows")
          .selectAll()
          .where("connection_id", "=", this.id)
          .execute();
        expect(timeline).toHaveLength(1);
        // Only checks have browsers in this project.
        const { project_id } = await this.#read(query);
        const running = () =>
          query
            .selectFrom("sessions")
            .select("id")
            .where("project_id", "=", project_id)
            .where("ended_at", "is", null)
            .execute();
        await expect.poll(running).toEqual([]);
      },
    });
  };

  close(): void {
    this.#site.closeAllConnections();
    this.#site.close();
  }

  #read(query: Pair["query"]) {
    return query.selectFrom("auth_connections").selectAll().where("id", "=", this.id).executeTakeFirstOrThrow();
  }
}

const kinds: Readonly<Record<string, (pair: Pair) => Promise<Work>>> = {
  "ends the sessions of the killed server, and none of the other": session,
  "sums the sessions of both servers, and those of the killed one until its last sign of life": usage,
  "ends a handoff with the session of the killed server, and its links at the other server": handoff,
  "fails an invocation, ends its browser, and runs the deployment without a second build": invocation,
};
const checkTitle = "repeats the check of the killed server on the other server, once";
const titles = [...Object.keys(kinds), checkTitle];

describe.each(Array.from({ length: rounds }, (_, round) => round))("one server of two is killed, round %i", (round) => {
  const check = new HangingCheck();
  const blobs = mkdtempSync(join(tmpdir(), "shoal-shared-blobs-"));
  const works = new Map<string, Work>();
  let servers: ServerProcesses;
  beforeAll(async () => {
    await check.listen();
    const settings = {
      SHOAL_ALLOW_PRIVATE_HOSTS: check.host,
      SHOAL_BLOBS_DIR: blobs,
      SHOAL_PLACEMENT: "sandbox",
      SHOAL_USAGE_SECONDS: "1",
    };
    const started = await startServerProcesses(settings);
    servers = started;
    const two = await servers.start("two", settings);
    // Either server may begin the check: the server with the check is killed.
    const isTwo = (await check.begin(servers.database)) === two.id;
    const pair = new Pair(servers, isTwo ? two : started.one, isTwo ? started.one : two);
    const order = Object.entries(kinds);
    for (let index = 0; index < order.length; index += 1) {
      const [title, start] = order[(index + seed + round) % order.length] ?? [];
      if (title !== undefined && start !== undefined)
        works.set(title, await start(await pair.inProject(`project ${String(index)}`)));
    }
    works.set(checkTitle, await check.work(pair));
    const ended = once(pair.victim.child, "exit");
    killedMs = Date.now();
    pair.victim.child.kill("SIGKILL");
    await ended;
    for (const { atKill } of works.values()) await atKill?.();
  });
  afterAll(async () => {
    await servers.close();
    check.close();
    rmSync(blobs, { recursive: true, force: true });
  });

  it.for(titles)("%s", async (title) => {
    const work = works.get(title);
    if (work === undefined) throw new Error(`Not started: ${title}`);
    await work.outcome();
  });
});
