import type { Deployment, Invocation } from "@shoal/schemas";
import { createId } from "@shoal/primitives";
import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { type ServerProcess, type ServerProcesses, startServerProcesses } from "../../testing/server-processes.ts";
import { zipOf } from "../../testing/zip.ts";

const blobs = join(tmpdir(), `shoal-shared-blobs-${createId()}`);
const settings = {
  SHOAL_BLOBS_DIR: blobs,
  SHOAL_PLACEMENT: "sandbox",
  SHOAL_MAX_INVOCATIONS_PER_PROJECT: "5",
};
const sourceOf = (name: string, imported: string) => `
  const actions = new Map();
  (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map()).set("${name}", { name: "${name}", actions });
  const action = (name, handler) => actions.set(name, { handler, payload: undefined, output: undefined });
  ${imported}
  action("count", (_context, payload) => (console.log("run " + payload), payload));
`;

let servers: ServerProcesses;
let two: ServerProcess;
beforeAll(async () => {
  const started = await startServerProcesses();
  servers = started;
  // It has other settings, and would take builds whose archives it cannot read.
  const ended = once(started.one.child, "exit");
  started.one.child.kill("SIGTERM");
  await ended;
  two = await servers.start("two", settings);
});
afterAll(async () => {
  await servers.close();
  rmSync(blobs, { recursive: true, force: true });
});

async function send<Answer>(server: ServerProcess, target: string, body?: object): Promise<Answer> {
  const [method = "", path = ""] = target.split(" ");
  const response = await fetch(server.baseUrl + path, {
    method,
    headers: {
      authorization: `Bearer ${servers.key}`,
      ...(body && !(body instanceof FormData) && { "content-type": "application/json" }),
    },
    ...(body && { body: body instanceof FormData ? body : JSON.stringify(body) }),
  });
  return (await response.json()) as Answer;
}

async function deploy(server: ServerProcess, name: string, imported = ""): Promise<string> {
  const form = new FormData();
  const archive = await zipOf({ "package.json": '{"type":"module"}', "index.js": sourceOf(name, imported) });
  form.set("file", new Blob([new Uint8Array(archive)]), "app.zip");
  form.set("entrypoint_rel_path", "index.js");
  return (await send<Deployment>(server, "POST /deployments", form)).id;
}

const statusOf = async (id: string) => (await send<Deployment>(two, `GET /deployments/${id}`)).status;
const invoke = (server: ServerProcess, app_name: string, action_name: string, more: object = {}) =>
  send<Invocation & { code?: string }>(server, "POST /invocations", { app_name, action_name, ...more });

/** Kills a server and waits until its boxes have ended. */
async function kill({ child }: ServerProcess): Promise<void> {
  const ended = once(child, "exit");
  // The server also starts programs that end at once, so its family can be empty for a moment.
  const family = await eventually(() => {
    const processesBelow = below(child.pid ?? 0);
    return processesBelow.length > 0 && processesBelow;
  });
  child.kill("SIGKILL");
  await ended;
  const alive = () =>
    family.filter(({ pid, started }) => processes().some((one) => one.pid === pid && one.started === started));
  await expect.poll(alive).toEqual([]);
}

interface Process {
  readonly pid: number;
  readonly parent: number;
  readonly started: string | undefined;
}

/** Without zombies. */
function processes(): Process[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      const fields = readFileSync(`/proc/${name}/stat`, "utf8")
        .replace(/^.*\) /s, "")
        .split(" ");
      return fields[0] === "Z" ? [] : [{ pid: Number(name), parent: Number(fields[1]), started: fields[19] }];
    } catch {
      return []; // Not a process, or ended meanwhile.
    }
  });
}

function below(pid: number, all = processes()): Process[] {
  return all.filter(({ parent }) => parent === pid).flatMap((one) => [one, ...below(one.pid, all)]);
}

it("builds again on another server when the building server is killed", async () => {
  const one = await servers.start("builder", settings);
  // Each server builds several apps; at least one of these belongs to the killed server.
  const ids = await Promise.all(
    ["a", "b", "c", "d"].map((name) => deploy(one, name, "await new Promise((resolve) => setTimeout(resolve, 3000));")),
  );
  const builtBy = async () =>
    (await servers.database.query.selectFrom("deployments").select("builder").where("id", "in", ids).execute()).map(
      ({ builder }) => builder,
    );
  await expect.poll(builtBy).toContain(one.id);
  await kill(one);
  for (const id of ids) await expect.poll(() => statusOf(id)).toMatch(/running|failed/);
  expect(await Promise.all(ids.map(statusOf))).toEqual(["running", "running", "running", "running"]);
  expect(await invoke(two, "a", "count", { payload: "1" })).toMatchObject({ status: "succeeded", output: "1" });
});

it("runs each of 50 invocations once in boxes of two servers under a limit of 5", async () => {
  const one = await servers.start("second", settings);
  const deployment = await deploy(one, "counter");
  await expect.poll(() => statusOf(deployment)).toBe("running");
  const run = async (index: number): Promise<string> => {
    for (;;) {
      const made = await invoke(index % 2 === 0 ? one : two, "counter", "count", { payload: String(index) });
      if (made.code === undefined) {
        expect([made.status, made.output]).toEqual(["succeeded", String(index)]);
        return made.id;
      }
      const retryMs = 200;
      await new Promise((resolve) => setTimeout(resolve, retryMs));
    }
  };
  const ids = await Promise.all(Array.from({ length: 50 }, (_, index) => run(index)));
  const printed = await Promise.all(
    ids.map(async (id) => {
      const headers = { authorization: `Bearer ${servers.key}` };
      const text = await (await fetch(`${two.baseUrl}/invocations/${id}/events`, { headers })).text();
      return [...text.matchAll(/"message":"(run \d+)"/g)].map(([, line]) => line);
    }),
  );
  expect(printed).toEqual(Array.from({ length: 50 }, (_, index) => [`run ${String(index)}`]));
});
