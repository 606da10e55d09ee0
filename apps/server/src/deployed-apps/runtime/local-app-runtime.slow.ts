import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { expect, it } from "vitest";
import { AppStartError, BuildError } from "./app-runtime.ts";
import { openRuntime, runnable, sourceOf } from "./testing/runtime.ts";

/** Registers as the framework of `@shoal/client/app` does, without a dependency. */
const framework = `
const apps = (globalThis[Symbol.for("shoal.apps.v1")] ??= new Map());
export function action(app: string, name: string, handler: (context: any, payload: any) => unknown): void {
  if (!apps.has(app)) apps.set(app, { name: app, actions: new Map() });
  apps.get(app).actions.set(name, { handler, payload: undefined, output: undefined });
}
`;
const manifest = JSON.stringify({ type: "module" });
const signal = new AbortController().signal;

it("builds an app, starts it in a box, and returns the output of an action after all its lines", async () => {
  const { runtime, folder, lines, on } = await openRuntime({
    api: (request, response) => {
      response.end(JSON.stringify({ path: request.url, key: request.headers.authorization }));
    },
  });
  const source = await sourceOf(
    {
      "package.json": manifest,
      "src/framework.ts": framework,
      "src/main.ts": `
        import { action } from "./framework";
        import { existsSync, writeFileSync } from "node:fs";
        enum Colour { Red = "red" }
        const url = process.env.KERNEL_BASE_URL + "/browsers";
        action("shop", "price", async ({ invocation_id }, payload) => {
          for (let line = 0; line < 20_000; line++) console.log("line " + line);
          process.stderr.write("\\u0000bin\\xff no end of line");
          const answer = await fetch(url, { headers: { authorization: "Bearer " + process.env.KERNEL_API_KEY } });
          writeFileSync("/tmp/scratch", "");
          return {
            payload, invocation_id, api: await answer.json(), colour: Colour.Red, cwd: process.cwd(),
            invocation: process.env.KERNEL_INVOCATION, secret: process.env.SECRET, entry: process.env.ENTRYPOINT_RELPATH,
            host: existsSync("/root/.ssh") || existsSync("/var/lib/shoal/x"),
            outside: await fetch("http://127.0.0.1:1/").then(() => "reached", () => "refused"),
          };
        });
      `,
    },
    "src/main.ts",
    { SECRET: "s", KERNEL_API_KEY: "mine", LD_PRELOAD: "/nowhere.so" },
  );
  const built = await runtime.build(source, on, signal);
  expect(built).toMatchObject({
    language: "node",
    apps: [{ name: "shop", actions: [{ name: "price", input_schema: null, output_schema: null }] }],
  });
  lines.length = 0;
  const program = await runtime.start(runnable(source, built), on, signal);
  const result = await program.invoke({
    invocation_id: "i1",
    app_name: "shop",
    action_name: "price",
    payload: JSON.stringify({ text: "x".repeat(4_000_000) }),
  });
  expect(result.status, result.status_reason).toBe("succeeded");
  const output = JSON.parse(result.output ?? "") as Record<string, unknown>;
  expect(output).toMatchObject({
    api: { path: "/browsers", key: "Bearer sk_app" },
    colour: "red",
    cwd: "/boot-node",
    entry: "src/main.ts",
    host: false,
    invocation: "i1",
    invocation_id: "i1",
    outside: "refused",
    secret: "s",
  });
  expect((output.payload as { text: string }).text).toHaveLength(4_000_000);
  const printed = lines.filter(({ source: from }) => from === "stdout").map(({ text }) => text);
  expect(printed).toHaveLength(20_000);
  expect(printed.every((text, index) => text === `line ${String(index)}`)).toBe(true);
  // The two outputs arrive in any order.
  expect(lines.findLast(({ source: from }) => from === "stderr")).toMatchObject({
    text: expect.stringContaining("no end of line") as string,
  });
  await program.ended;
  await runtime.close();
  await runtime.remove(built.artifact);
  expect(await readdir(join(folder, "blobs"))).toEqual([]);
  expect(await readdir(join(folder, "apps/artifacts"))).toEqual([]);
});

it("reports why an action failed, and ends a program that is stopped", async () => {
  const { runtime, on } = await openRuntime();
  const source = await sourceOf(
    {
      "package.json": manifest,
      "framework.ts": framework,
      "main.ts": `
        import { action } from "./framework";
        action("shop", "throws", () => { throw new Error("sold out"); });
        action("shop", "exits", () => process.exit(3));
        action("shop", "hangs", () => new Promise((done) => setTimeout(done, 3600_000)));
        action("shop", "large", () => "x".repeat(5_000_000));
      `,
    },
    "main.ts",
  );
  const built = await runtime.build(source, on, signal);
  const invoke = async (action_name: string) => {
    const program = await runtime.start(runnable(source, built), on, signal);
    return program.invoke({ invocation_id: "i1", app_name: "shop", action_name });
  };
  expect(await invoke("throws")).toEqual({
    status: "failed",
    output: JSON.stringify({ error: "sold out" }),
    status_reason: "sold out",
  });
  expect(await invoke("exits")).toMatchObject({
    status: "failed",
    status_reason: expect.stringContaining("exit code 3") as string,
  });
  expect(await invoke("large")).toMatchObject({ status_reason: expect.stringContaining("limit is 4718592") as string });
  expect(await invoke("unknown")).toMatchObject({
    status_reason: expect.stringContaining("has no action unknown") as string,
  });
  const program = await runtime.start(runnable(source, built), on, signal);
  const hanging = program.invoke({ invocation_id: "i1", app_name: "shop", action_name: "hangs" });
  await program.stop();
  expect(await hanging).toMatchObject({ status: "failed" });
  await program.ended;
});

it("fails a build with the reason for its author", async () => {
  const { runtime, on } = await openRuntime();
  const reasonOf = async (files: Record<string, string>, entry = "main.ts"): Promise<string> => {
    const error: unknown = await runtime.build(await sourceOf(files, entry), on, signal).catch((why: unknown) => why);
    if (!BuildError.isInstance(error)) throw error;
    return error.message;
  };
  const withManifest = (main: string, more: Record<string, string> = {}) => ({
    "package.json": manifest,
    "main.ts": main,
    ...more,
  });
  expect(await reasonOf({ "main.ts": "" })).toContain("package.json is missing");
  expect(await reasonOf({ "package.json": "[" })).toContain("not a JSON object");
  expect(await reasonOf({ "package.json": manifest }, "main.ts")).toContain("main.ts");
  expect(await reasonOf(withManifest("", { "bun.lock": "" }))).toContain("bun.lock is not supported");
  expect(await reasonOf(withManifest("const x: = 1"))).toContain("esbuild failed");
  expect(await reasonOf(withManifest("throw new Error('no key')"))).toBe("main.ts failed when it was imported: no key");
  expect(await reasonOf(withManifest("console.log('nothing')"))).toContain("registered no app");
  expect(await reasonOf(withManifest("process.exit(4)"))).toContain("exit code 4");
});

it("refuses an unknown artifact, and aborts with the signal", async () => {
  const { runtime, on } = await openRuntime();
  const app = { deployment_id: "d", project: "p", artifact: "unknown", language: "node", entrypoint: "a.ts" } as const;
  await expect(runtime.start({ ...app, env: {}, api_key: "k" }, on, signal)).rejects.toThrow("deploy the app again");
  const reason = new Error("cancelled");
  const source = await sourceOf(
    {
      "package.json": manifest,
      "main.ts": "console.log('imported'); await new Promise(() => setInterval(() => {}, 1000))",
    },
    "main.ts",
  );
  // Node collects the controller of a combined signal that has no listener, and loses its abort then.
  const controller = new AbortController();
  const abort = {
    line({ text }: { readonly text: string }) {
      if (text === "imported") controller.abort(reason);
    },
  };
  await expect(runtime.build(source, abort, controller.signal)).rejects.toBe(reason);
  expect(AppStartError.isInstance(reason)).toBe(false);
});

it("builds and runs apps as plain processes without bubblewrap", async () => {
  const { runtime, on } = await openRuntime({
    kind: "process",
    api: (_request, response) => response.end("from the API"),
  });
  const source = await sourceOf(
    {
      "package.json": manifest,
      "framework.ts": framework,
      "main.ts": `
        import { action } from "./framework";
        action("shop", "price", async () => (await fetch(process.env.SHOAL_BASE_URL!)).text());
      `,
    },
    "main.ts",
  );
  const built = await runtime.build(source, on, signal);
  const program = await runtime.start(runnable(source, built), on, signal);
  const call = { invocation_id: "i1", app_name: "shop", action_name: "price" };
  expect(await program.invoke(call)).toEqual({ status: "succeeded", output: '"from the API"' });
  await expect(program.invoke(call)).rejects.toThrow("runs one invocation");
});
