import { eventually } from "@shoal/testkit";
import Kernel from "@onkernel/sdk";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { useService } from "../testing/service.ts";
import { zipOf } from "../testing/zip.ts";

/** Registers as the framework of `@shoal/client/app` does, without a dependency. */
const source = `
import { setTimeout as delay } from "node:timers/promises";
const actions = new Map();
(globalThis[Symbol.for("shoal.apps.v1")] ??= new Map()).set("calls", { name: "calls", actions });
const action = (name, handler) => actions.set(name, { handler, payload: undefined, output: undefined });
action("slow", async () => (await delay(65_000), "done"));
action("count", async (_context, number) => (console.log("ran " + number), await delay(50), number));
`;

const [{ placement, skip, title } = { placement: "sandbox", skip: true, title: "" }] = placements;
const limit = 5;
/** More than the 20 seconds after which headers of the answer arrive, and less than the action takes. */
const timeoutMs = 55_000;

describe.skipIf(skip)(`calls of an app in the placement ${title}`, () => {
  const test = useService(() => ["--placement", placement, "--max-invocations-per-project", String(limit)]);
  beforeAll(async () => {
    const { deployments } = test.shoal;
    const archive = await zipOf([
      { name: "package.json", content: '{"type":"module"}' },
      { name: "index.js", content: source },
    ]);
    const { id } = await deployments.create({ file: new Blob([archive]), entrypoint_rel_path: "index.js" });
    const { status, status_reason } = await deployments.wait(id, { totalTimeoutMs: 120_000 });
    expect(status, status_reason).toBe("running");
  });
  afterAll(async () => {
    expect((await test.shoal.invocations.list({ status: "running" })).items).toEqual([]);
  });

  it.concurrent("runs a synchronous action above the timeout of the vendor's SDK once, with its retries", async () => {
    const posts: string[] = [];
    const kernel = new Kernel({
      apiKey: test.service.apiKey,
      // The checker of answers, which reads whole bodies before it returns them, does not know this name.
      baseURL: test.service.baseUrl.replace("127.0.0.1", "localhost"),
      fetch: (input, init) => {
        posts.push(`${init?.method ?? ""} ${new URL(input instanceof Request ? input.url : input).pathname}`);
        return fetch(input, init);
      },
    });
    expect([kernel.timeout, kernel.maxRetries]).toEqual([60_000, 2]);
    const call = { app_name: "calls", action_name: "slow", version: "latest" };
    const { output, status } = await kernel.invocations.create(call, { timeout: timeoutMs });
    expect([status, output]).toEqual(["succeeded", '"done"']);
    expect(posts).toEqual(["POST /invocations"]);
    expect((await test.shoal.invocations.list({ action_name: "slow" })).items).toHaveLength(1);
  });

  it.concurrent(
    `runs each of 50 invocations at once under a limit of ${String(limit)} once, and loses none`,
    async () => {
      const { invocations } = test.shoal;
      // These would refuse the slow call, which cannot wait in the queue.
      await eventually(
        "the slow call runs",
        async () => (await invocations.list({ action_name: "slow" })).items.length > 0,
      );
      const numbers = Array.from({ length: 50 }, (_, number) => number);
      const runs: string[] = [];
      const ended = await Promise.all(
        numbers.map(async (number) => {
          const { id } = await invocations.create({
            ...{ app_name: "calls", action_name: "count", payload: String(number) },
            ...{ async: true, async_timeout_seconds: 600, queue: true },
          });
          return invocations.wait(id, {
            totalTimeoutMs: 300_000,
            onEvent: (event) => {
              if (event.event === "log") runs.push(event.message);
            },
          });
        }),
      );
      expect(ended.map(({ output, status }) => `${status} ${String(output)}`)).toEqual(
        numbers.map((number) => `succeeded ${String(number)}`),
      );
      expect(runs.toSorted()).toEqual(numbers.map((number) => `ran ${String(number)}`).toSorted());
      expect((await invocations.list({ action_name: "count", limit: 100 })).items).toHaveLength(50);
    },
  );
});
