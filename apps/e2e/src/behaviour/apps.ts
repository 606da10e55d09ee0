import type { Shoal } from "@shoal/client";
import { app } from "@shoal/client/app";
import type { Deployment, DeploymentEvent, InvocationEvent } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { codeOf } from "../testing/refusal.ts";
import { zipOf } from "../testing/zip.ts";
import type { ServiceUnderTest } from "./open-service.ts";

export const appName = "behaviour";

/** The app for the service, which runs the sources. */
const sources = `
const wait = (signal) => new Promise((resolve) => signal?.addEventListener("abort", resolve));
const registry = (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map());
registry.set("${appName}", { name: "${appName}", actions: new Map([
  ["echo", { handler: async (_, payload) => payload }],
  ["nothing", { handler: async () => undefined, schedule: { cron: "0 4 * * *", payload: { days: 1 } } }],
  ["fail", { handler: async () => { throw new Error("sold out"); } }],
  ["wait", { handler: async ({ signal }) => { await wait(signal); await new Promise(() => setInterval(() => {}, 1000)); } }],
]) });
`;

/** The same app for the fake, which runs handlers of this process. */
function register(): void {
  const made = app(appName);
  if (made.actions.size > 0) return;
  made.action("echo", (_context, payload) => payload);
  made.action("nothing", { schedule: { cron: "0 4 * * *", payload: { days: 1 } } }, () => undefined);
  made.action("fail", () => {
    throw new Error("sold out");
  });
  made.action("wait", () => new Promise(() => undefined));
}

/** Starts to deploy the app of these tests. */
export async function deployApp(
  { deployments }: Pick<Shoal, "deployments">,
  version = "latest",
  more: { readonly entry?: string; readonly force?: boolean } = {},
): Promise<Deployment> {
  register();
  const archive = await zipOf([
    { name: "package.json", content: '{"name":"behaviour","type":"module"}' },
    { name: "index.js", content: sources },
  ]);
  return deployments.create({
    file: new Blob([archive]),
    entrypoint_rel_path: more.entry ?? "index.js",
    version,
    env_vars: { TOKEN: "secret" },
    ...(more.force === true && { force: true }),
  });
}

export function describeApps(test: ServiceUnderTest): void {
  const deploy = (...rest: Parameters<typeof deployApp> extends [unknown, ...infer Rest] ? Rest : never) =>
    deployApp(test.shoal, ...rest);
  const running = async (version?: string, more?: { force?: boolean }): Promise<Deployment> => {
    const { deployments } = test.shoal;
    const ended = await deployments.wait((await deploy(version, more)).id);
    expect(ended.status, ended.status_reason).toBe("running");
    return ended;
  };
  /** The version `latest`, which tests of invocations share. */
  let latest: Promise<unknown> | undefined;
  const anyRunning = () => (latest ??= running());
  const started = (action_name: string, payload?: string) =>
    test.shoal.invocations.create({
      app_name: appName,
      action_name,
      ...(payload !== undefined && { payload }),
      async: true,
    });

  describe("apps", () => {
    it("are deployed, with their states and versions as events", async () => {
      const { apps, deployments } = test.shoal;
      const made = await deploy();
      expect(made).toMatchObject({ status: "queued", source_type: "file", env_vars: { TOKEN: "" } });
      const events: DeploymentEvent[] = [];
      for await (const event of deployments.follow(made.id)) {
        if (event.event !== "log" && event.event !== "sse_heartbeat") events.push(event);
        if (event.event === "deployment_state" && event.deployment.status === "running") break;
      }
      latest = Promise.resolve();
      expect(events.slice(-2).map(({ event }) => event)).toEqual(["app_version_summary", "deployment_state"]);
      const { items } = await apps.list({ app_name: appName, version: "latest" });
      expect(items).toMatchObject([
        { app_name: appName, version: "latest", deployment: made.id, env_vars: { TOKEN: "" } },
      ]);
      expect(items[0]?.actions.map(({ name }) => name)).toEqual(["echo", "nothing", "fail", "wait"]);
    });

    it("fail to deploy without their entry file, with the reason", async () => {
      const { deployments } = test.shoal;
      const failed = await deployments.wait((await deploy("latest", { entry: "missing.js" })).id);
      expect(failed).toMatchObject({
        status: "failed",
        status_reason: expect.stringContaining("missing.js is not in the sources") as unknown,
      });
    });

    it("keep a version of a label unless they are forced, return to an earlier deployment, and end", async () => {
      const { apps, deployments } = test.shoal;
      const version = test.unique("v");
      const current = async () =>
        (await apps.list({ app_name: appName, version })).items.map(({ deployment }) => deployment);
      const first = await running(version);
      const second = await deployments.wait((await deploy(version)).id);
      expect(second).toMatchObject({
        status: "failed",
        status_reason: expect.stringContaining(first.id) as unknown,
      });
      const third = await running(version, { force: true });
      expect((await deployments.get(first.id)).status).toBe("stopped");
      expect(await current()).toEqual([third.id]);

      expect(await deployments.rollback(first.id)).toMatchObject({
        id: first.id,
        status: "running",
        status_reason: `It replaced deployment ${third.id}.`,
      });
      expect((await deployments.get(third.id)).status).toBe("stopped");
      expect(await current()).toEqual([first.id]);
      expect((await test.shoal.invocations.create({ app_name: appName, action_name: "nothing", version })).status).toBe(
        "succeeded",
      );
      for await (const event of deployments.follow(first.id))
        if (event.event === "deployment_state" && event.deployment.status === "running") break;
      expect(await codeOf(deployments.rollback(first.id))).toBe("409 conflict");
      expect(await codeOf(deployments.rollback("unknown"))).toBe("404 not_found");

      await deployments.delete(first.id);
      expect(await current()).toEqual([]);
      expect(await codeOf(deployments.get(first.id))).toBe("404 not_found");
    });

    it("have schedules that are paused, resumed and deleted, also with their deployment", async () => {
      const { deployments, schedules } = test.shoal;
      const version = test.unique("v");
      const { id: deployment } = await running(version);
      const given = { app_name: appName, version, action_name: "echo", cron: "0 9 * * 1-5", payload: "7" };
      const made = await schedules.create({ ...given, time_zone: "Europe/Berlin" });
      expect(made).toMatchObject({ ...given, time_zone: "Europe/Berlin", status: "active", origin: "request" });
      expect(await schedules.pause(made.id)).toMatchObject({ status: "paused", next_run_at: null });
      expect((await schedules.resume(made.id)).status).toBe("active");
      const other = await schedules.create(given);
      const all = async () => (await schedules.list({ app_name: appName, version })).items;
      const ids = async () => (await all()).filter(({ origin }) => origin === "request").map(({ id }) => id);
      expect(await ids()).toEqual([other.id, made.id]);
      const declared = (await all()).filter(({ origin }) => origin === "code");
      expect(declared).toMatchObject([
        { action_name: "nothing", cron: "0 4 * * *", time_zone: "UTC", payload: '{"days":1}' },
      ]);
      await schedules.delete(other.id);
      expect(await codeOf(schedules.pause(other.id))).toBe("404 not_found");
      expect(await codeOf(schedules.create({ ...given, action_name: "unknown" }))).toBe("404 not_found");
      expect(await codeOf(schedules.create({ ...given, cron: "daily" }))).toBe("400 bad_request");
      await deployments.delete(deployment);
      expect(await all()).toEqual([]);
    });

    it("answer synchronous invocations with the output, or with the reason of a failure", async () => {
      const { invocations } = test.shoal;
      await anyRunning();
      const call = (action_name: string, payload?: string) =>
        invocations.create({ app_name: appName, action_name, ...(payload !== undefined && { payload }) });
      expect(await call("echo", '{"sku":7}')).toMatchObject({ status: "succeeded", output: '{"sku":7}' });
      const failed = await call("fail");
      expect(failed).toMatchObject({ status: "failed", status_reason: "sold out", output: '{"error":"sold out"}' });
      expect(await invocations.get(failed.id)).toMatchObject({
        app_name: appName,
        status: "failed",
        version: "latest",
      });
      expect((await call("nothing")).output).toBeUndefined();
      expect(await codeOf(call("unknown"))).toBe("404 not_found");
      expect(await codeOf(invocations.create({ app_name: "unknown", action_name: "echo" }))).toBe("404 not_found");
    });

    it("report asynchronous invocations as events", async () => {
      await anyRunning();
      const { id, status } = await started("echo", "1");
      expect(status).toBe("queued");
      const states: string[] = [];
      for await (const event of test.shoal.invocations.follow(id) as AsyncIterable<InvocationEvent>)
        if (event.event === "invocation_state") states.push(event.invocation.status);
      expect(states.at(-1)).toBe("succeeded");
      expect((await test.shoal.invocations.list({ app_name: appName, limit: 1 })).items[0]?.id).toBe(id);
    });

    it("end with their browsers when they are cancelled, once", async () => {
      const { browsers, invocations } = test.shoal;
      await anyRunning();
      const { id } = await started("wait");
      const { session_id } = await browsers.create({ invocation_id: id });
      expect((await invocations.listBrowsers(id)).browsers.map((browser) => browser.session_id)).toEqual([session_id]);
      expect((await invocations.update(id, { status: "failed" })).status).toBe("failed");
      await expect.poll(async () => (await invocations.listBrowsers(id)).browsers).toEqual([]);
      expect((await invocations.update(id, { status: "succeeded" })).status).toBe("failed");
      expect(await codeOf(browsers.create({ invocation_id: id }))).toBe("409 conflict");
      expect(await codeOf(browsers.create({ invocation_id: "unknown" }))).toBe("404 not_found");
    });
  });
}
