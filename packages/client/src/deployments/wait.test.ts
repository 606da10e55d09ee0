import type { Deployment, DeploymentEvent } from "@shoal/schemas";
import { expect, it } from "vitest";
import { ApiError, Shoal, TimeoutError } from "../index.ts";
import { startAppService } from "../node/testing/app-service.ts";

const timestamp = "2026-01-31T12:00:00Z";
const inState = (status: string): DeploymentEvent => ({
  event: "deployment_state",
  timestamp,
  deployment: { id: "d1", status, region: "aws.us-east-1a", created_at: timestamp },
});
const log = (message: string): DeploymentEvent => ({ event: "log", message, timestamp });
async function start() {
  const service = await startAppService();
  return {
    service,
    shoal: new Shoal({ apiKey: "sk_0123456789", baseUrl: service.baseUrl, maxRetries: 0 }),
    [Symbol.asyncDispose]: () => service[Symbol.asyncDispose](),
  };
}
const reasonOf = (promise: Promise<unknown>) =>
  promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );

it("deploys an archive with its variables, and a repository", async () => {
  await using test = await start();
  await test.shoal.deployments.create({
    file: new Blob(["PK zip"]),
    entrypoint_rel_path: "src/index.ts",
    force: true,
    env_vars: { A: "1", "B C": "zwei\r\n" },
  });
  expect(Object.fromEntries(test.service.parts)).toEqual({
    entrypoint_rel_path: "src/index.ts",
    force: "true",
    "env_vars[A]": "1",
    "env_vars[B C]": "zwei\r\n",
    file: 6,
  });
  const source = {
    type: "github",
    url: "https://github.com/shoal-dev/demo",
    ref: "main",
    entrypoint: "index.ts",
  } as const;
  await test.shoal.deployments.create({ source, version: "v1", env_vars: {} });
  const { source: sent, ...rest } = Object.fromEntries(test.service.parts);
  expect([JSON.parse(String(sent)), rest]).toEqual([source, { version: "v1" }]);
});

it("waits with the event stream, and reports states and other events", async () => {
  await using test = await start();
  test.service.events = [
    inState("queued"),
    log("one"),
    inState("queued"),
    inState("in_progress"),
    { event: "sse_heartbeat", timestamp },
    log("two"),
    inState("running"),
  ];
  test.service.afterwards = "silence";
  const states: string[] = [];
  const heard: string[] = [];
  const deployment = await test.shoal.deployments.wait("d1", {
    onState: ({ status }) => void states.push(status),
    onEvent: (event) => void heard.push(event.event === "log" ? event.message : event.event),
  });
  expect([deployment.status, states, heard]).toEqual([
    "running",
    ["queued", "in_progress", "running"],
    ["one", "sse_heartbeat", "two"],
  ]);
  expect(test.service.requests).toEqual(["GET /deployments/d1/events"]);
});

it.each(["failed", "stopped"])("returns a deployment with the final status %s", async (status) => {
  await using test = await start();
  test.service.events = [inState(status)];
  expect((await test.shoal.deployments.wait("d1")).status).toBe(status);
});

it.each(["end", 501, 503] as const)("polls when the event stream returns %s", async (afterwards) => {
  await using test = await start();
  test.service.afterwards = afterwards;
  const states: string[] = [];
  const waiting = test.shoal.deployments.wait("d1", {
    pollIntervalMs: 1,
    onState: ({ status }) => void states.push(status),
  });
  await expect
    .poll(() => test.service.requests.filter((request) => request === "GET /deployments/d1").length)
    .toBeGreaterThan(2);
  test.service.deployment = { ...test.service.deployment, status: "running" } satisfies Deployment;
  expect((await waiting).status).toBe("running");
  expect(states).toEqual(["queued", "running"]);
});

it("does not poll for a missing deployment", async () => {
  await using test = await start();
  test.service.afterwards = 404;
  const error = await reasonOf(test.shoal.deployments.wait("d1"));
  expect(ApiError.isInstance(error) && error.code).toBe("not_found");
  expect(test.service.requests).toHaveLength(1);
});

it.each(["silence", "end"] as const)(
  "ends at its timeout and when it is aborted, while the event stream returns %s",
  async (afterwards) => {
    await using test = await start();
    test.service.afterwards = afterwards;
    const late = await reasonOf(test.shoal.deployments.wait("d1", { totalTimeoutMs: 30, pollIntervalMs: 5 }));
    expect(TimeoutError.isInstance(late) && [late.timeoutMs, late.message]).toEqual([
      30,
      "deployments.wait timed out after 30 ms in all, before there was an end. Raise totalTimeoutMs if it needs longer.",
    ]);
    const controller = new AbortController();
    const waiting = reasonOf(test.shoal.deployments.wait("d1", { signal: controller.signal }));
    const reason = new Error("enough");
    controller.abort(reason);
    expect(await waiting).toBe(reason);
    expect(await reasonOf(test.shoal.deployments.wait("d1", { signal: AbortSignal.abort(reason) }))).toBe(reason);
  },
);

it("rejects with the exception of a callback, and closes the stream", async () => {
  await using test = await start();
  test.service.events = [log("x")];
  test.service.afterwards = "silence";
  const thrown = new Error("mine");
  const onEvent = () => {
    throw thrown;
  };
  expect(await reasonOf(test.shoal.deployments.wait("d1", { onEvent }))).toBe(thrown);
});

it("waits for the end of an invocation that was accepted with 202", async () => {
  await using test = await start();
  const { invocations } = test.shoal;
  expect(await invocations.create({ app_name: "shop", action_name: "price" })).toMatchObject({
    status: "succeeded",
    output: "7",
  });
  const { id, status } = await invocations.create({
    app_name: "shop",
    action_name: "price",
    payload: "{}",
    async: true,
  });
  expect([id, status]).toEqual(["i1", "queued"]);
  expect((await invocations.wait(id)).output).toBe("7");
});

it("passes events of unknown types", async () => {
  await using test = await start();
  // Like a newer service.
  test.service.events = [{ event: "new_kind", more: 1 } as unknown as DeploymentEvent];
  const kinds: unknown[] = [];
  for await (const event of test.shoal.deployments.follow("d1")) kinds.push(event);
  expect(kinds).toEqual([{ event: "new_kind", more: 1 }]);
});
