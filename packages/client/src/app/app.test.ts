import * as z from "zod";
import * as mini from "zod/mini";
import { registerHooks } from "node:module";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { app, describeApps, registeredApps, runAction, type ValueSchema } from "./index.ts";

const outputOf = ({ output }: { output?: string | undefined }): unknown =>
  output === undefined ? undefined : JSON.parse(output);
const invocation = { invocation_id: "i1", app_name: "shop", action_name: "price" };

// Apps are global, so they must be removed between tests.
beforeEach(() => {
  registeredApps().clear();
});

describe("app", () => {
  it("collects actions from several files and describes them for a deployer", async () => {
    app("shop").action(
      "price",
      {
        payload: z.object({ sku: z.int(), currency: z.string().default("EUR") }),
        output: z.object({ price: z.number() }),
      },
      () => ({ price: 1 }),
    );
    app("shop").action("stock", { payload: mini.object({ sku: mini.string() }) }, () => 1);
    app("other").action("plain", () => undefined);
    app("other").action("no words", { payload: z.custom<Date>() }, () => undefined);
    const described = await describeApps();
    expect(described).toMatchObject({
      apps: [
        {
          name: "shop",
          actions: [
            {
              name: "price",
              input_schema: {
                type: "object",
                properties: { sku: { type: "integer" }, currency: { default: "EUR" } },
                required: ["sku"],
              },
              output_schema: { required: ["price"] },
            },
            { name: "stock", input_schema: { properties: { sku: { type: "string" } } }, output_schema: null },
          ],
        },
        { name: "other", actions: [{ name: "plain", input_schema: null, output_schema: null }, { name: "no words" }] },
      ],
    });
    expect(described.apps[0]?.actions[0]?.input_schema?.$schema).toContain("draft-07");
    expect(JSON.parse(JSON.stringify(described))).toEqual(described);
  });

  it("describes the schedules of actions", async () => {
    const every = app("shop");
    every.action(
      "report",
      { schedule: { cron: "0 9 * * 1-5", time_zone: "Europe/Berlin", payload: { days: 1 } } },
      () => 1,
    );
    every.action("clean", { schedule: { cron: "0 3 * * *" } }, () => 1);
    every.action("plain", () => 1);
    const { apps } = await describeApps();
    expect(apps[0]?.schedules).toEqual([
      { action_name: "report", cron: "0 9 * * 1-5", time_zone: "Europe/Berlin", payload: '{"days":1}' },
      { action_name: "clean", cron: "0 3 * * *", time_zone: "UTC" },
    ]);
  });

  it("rejects invalid names, duplicate actions, and actions without a handler", () => {
    for (const name of ["", "a".repeat(256), "a\nb"])
      expect(() => app(name)).toThrow("An app's name has 1 to 255 characters");
    const shop = app("shop");
    expect(() => shop.action("", () => 1)).toThrow("An action's name has 1 to 255 characters");
    shop.action("price", () => 1);
    expect(() => shop.action("price", () => 2)).toThrow("The app shop has an action called price already.");
    // @ts-expect-error the handler must be a function
    expect(() => shop.action("none", {})).toThrow("pass a function");
    expect([...registeredApps().keys()]).toEqual(["shop"]);
  });

  it("is found by a runner that loads another copy of the package", async () => {
    app("shop").action("price", () => "found");
    const hooks = registerHooks({
      resolve(specifier, context, resolveNext) {
        const resolved = resolveNext(specifier, context);
        const isOfCopy = specifier.startsWith(".") && context.parentURL?.endsWith("?copy") === true;
        return isOfCopy ? { ...resolved, url: `${resolved.url}?copy` } : resolved;
      },
    });
    onTestFinished(() => {
      hooks.deregister();
    });
    const copy = (await import(`${import.meta.resolve("./index.ts")}?copy`)) as typeof import("./index.ts");
    expect(copy.runAction).not.toBe(runAction);
    expect(await copy.runAction(invocation)).toEqual({ status: "succeeded", output: '"found"' });
  });
});

describe("runAction", () => {
  it("passes context and checked payload to the handler, and returns its output as JSON", async () => {
    const controller = new AbortController();
    const contexts: unknown[] = [];
    const price = app("shop").action(
      "price",
      { payload: z.object({ sku: z.coerce.number() }) },
      async (context, { sku }) => {
        contexts.push(context);
        return Promise.resolve({ price: sku * 2 });
      },
    );
    expect(await runAction({ ...invocation, payload: '{"sku":"7"}', signal: controller.signal })).toEqual({
      status: "succeeded",
      output: '{"price":14}',
    });
    expect(contexts).toEqual([{ ...invocation, signal: controller.signal }]);
    expect(await price({ ...invocation, signal: controller.signal }, { sku: 1 })).toEqual({ price: 2 });
  });

  it.each<[string, string | undefined, unknown, unknown]>([
    ["nothing", undefined, undefined, undefined],
    ["null", "null", null, null],
    ["text", '"a"', "a", "a"],
    ["a date", "{}", new Date(0), "1970-01-01T00:00:00.000Z"],
  ])("accepts %s without a schema, and returns the output as JSON", async (_name, payload, returned, output) => {
    const payloads: unknown[] = [];
    app("shop").action("price", (_context, given) => {
      payloads.push(given);
      return returned;
    });
    const result = await runAction({ ...invocation, ...(payload !== undefined && { payload }) });
    expect([result.status, outputOf(result), payloads]).toEqual([
      "succeeded",
      output,
      [payload === undefined ? undefined : (JSON.parse(payload) as unknown)],
    ]);
  });

  it("reports every invalid part of the payload, and does not call the handler", async () => {
    let calls = 0;
    app("shop").action("price", { payload: z.object({ sku: z.int(), tags: z.array(z.string()) }) }, () => (calls += 1));
    const result = await runAction({ ...invocation, payload: '{"sku":"x","tags":["a",1]}' });
    expect(result.status).toBe("failed");
    expect(outputOf(result)).toEqual({
      error:
        "payload.sku: Invalid input: expected number, received string; payload.tags.1: Invalid input: expected string, received number",
    });
    expect(outputOf(await runAction(invocation))).toEqual({
      error: "payload: Invalid input: expected object, received undefined",
    });
    expect(outputOf(await runAction({ ...invocation, payload: "{" }))).toEqual({ error: "payload: expected JSON" });
    expect(calls).toBe(0);
  });

  it("accepts asynchronous schemas of other libraries", async () => {
    const even: ValueSchema<number> = {
      "~standard": {
        version: 1,
        vendor: "own",
        validate: (value) =>
          Promise.resolve(
            typeof value === "number" && value % 2 === 0
              ? { value }
              : { issues: [{ message: "odd", path: [{ key: "a" }, 0] }] },
          ),
      },
    };
    app("shop").action("price", { payload: even }, (_context, payload) => payload / 2);
    expect(await runAction({ ...invocation, payload: "4" })).toEqual({ status: "succeeded", output: "2" });
    expect(outputOf(await runAction({ ...invocation, payload: "3" }))).toEqual({ error: "payload.a.0: odd" });
    expect((await describeApps()).apps[0]?.actions[0]?.input_schema).toBeNull();
  });

  it("fails with the handler's exception, and reports it to the runner", async () => {
    const described = Object.assign(new Error("x"), { message: { status: 402 } });
    const thrown: unknown[] = [new Error("sold out"), "text", undefined, Object.create(null), described];
    let at = 0;
    app("shop").action("price", () => {
      throw thrown[at];
    });
    const seen: unknown[] = [];
    const outputs: unknown[] = [];
    for (at = 0; at < thrown.length; at++)
      outputs.push(outputOf(await runAction({ ...invocation, onError: (error) => seen.push(error) })));
    expect(outputs).toEqual([
      { error: "sold out" },
      { error: "text" },
      { error: "undefined" },
      { error: "The action failed with something that cannot be shown." },
      { error: '{"status":402}' },
    ]);
    expect(seen).toEqual(thrown);
  });

  it("fails for an output that JSON cannot represent, or that does not fit the schema", async () => {
    app("shop").action("price", () => 1n);
    // @ts-expect-error the schema requires another type
    app("shop").action("typed", { output: z.string() }, () => 5);
    expect(outputOf(await runAction(invocation))).toEqual({
      error: "output: cannot be written as JSON: Do not know how to serialize a BigInt",
    });
    expect(outputOf(await runAction({ ...invocation, action_name: "typed" }))).toEqual({
      error: "output: Invalid input: expected string, received number",
    });
  });

  it("lists the known apps and actions when the requested one is unknown", async () => {
    expect(outputOf(await runAction(invocation))).toEqual({
      error: "Unknown app shop in this program; it has none.",
    });
    app("shop").action("stock", () => 1);
    expect(outputOf(await runAction(invocation))).toEqual({ error: "The app shop has no action price; it has stock." });
  });

  it("aborts the handler's signal when the invocation is cancelled", async () => {
    app("shop").action(
      "price",
      ({ signal }) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener("abort", () => {
            reject(signal.reason as Error);
          });
        }),
    );
    const controller = new AbortController();
    const running = runAction({ ...invocation, signal: controller.signal });
    controller.abort(new Error("cancelled"));
    expect(outputOf(await running)).toEqual({ error: "cancelled" });
  });
});
