import { expect, it } from "vitest";
import type { BuildSource } from "./app-runtime.ts";
import { openRuntime, runnable, sourceOf } from "./testing/runtime.ts";

const signal = new AbortController().signal;
const esm = `import { Kernel } from "@onkernel/sdk";`;
const commonJs = `const { Kernel } = require("@onkernel/sdk");`;
const main = `
  const kernel = new Kernel();
  const app = kernel.app("ts-basic");
  app.action("whoami", async (context: any, payload: any) => ({
    id: context.invocation_id, name: payload?.name, api: kernel.baseURL === process.env.KERNEL_BASE_URL,
  }));
  app.action("nothing", async (_context: any) => {});
`;

/** @returns the outputs of all actions by `app action`. */
async function outputsOf(source: BuildSource): Promise<Record<string, unknown>> {
  const { lines, on, runtime } = await openRuntime();
  const built = await runtime.build(source, on, signal).catch((error: unknown) => {
    throw new Error(lines.map(({ text }) => text).join("\n"), { cause: error });
  });
  const outputs: Record<string, unknown> = {};
  for (const { actions, name: app_name } of built.apps)
    for (const { name: action_name } of actions) {
      const program = await runtime.start(runnable(source, built), on, signal);
      const call = { invocation_id: "i1", app_name, action_name, payload: '{"name":"Ada"}' };
      const { output = "", status, status_reason } = await program.invoke(call);
      await program.ended;
      expect(status, status_reason).toBe("succeeded");
      outputs[`${app_name} ${action_name}`] = JSON.parse(output) as unknown;
    }
  return outputs;
}

it.each([
  ["0.14.2", "module", esm],
  ["0.14.2", "commonjs", commonJs],
  ["0.23.0", "module", esm],
  ["0.35.0", "module", esm],
  ["0.49.0", "module", esm],
  ["0.49.0", "commonjs", commonJs],
  ["0.84.0", "module", esm],
  ["0.84.0", "commonjs", commonJs],
])("runs the actions of the vendor's SDK %s in a package of type %s", async (version, type, load) => {
  const manifest = JSON.stringify({ type, dependencies: { "@onkernel/sdk": version } });
  const source = await sourceOf({ "package.json": manifest, "index.ts": load + main }, "index.ts");
  expect(await outputsOf(source)).toEqual({
    "ts-basic whoami": { id: "i1", name: "Ada", api: true },
    "ts-basic nothing": null,
  });
});

it("runs actions that a dependency registers with its own, nested copy of the SDK", async () => {
  const source = await sourceOf(
    {
      "package.json": JSON.stringify({
        type: "module",
        dependencies: { "@onkernel/sdk": "0.84.0", older: "file:./older", oldest: "file:./oldest" },
      }),
      "index.ts": `import "older"; import "oldest"; ${esm}
        new Kernel().app("outer").action("where", async (_context: any) => "0.84");`,
      "older/package.json": JSON.stringify({
        ...{ name: "older", version: "1.0.0", type: "module", main: "index.js" },
        dependencies: { "@onkernel/sdk": "0.49.0" },
      }),
      "older/index.js": `${esm} new Kernel().app("older").action("where", async (_context) => "0.49");`,
      "oldest/package.json": JSON.stringify({
        ...{ name: "oldest", version: "1.0.0", main: "index.js" },
        dependencies: { "@onkernel/sdk": "0.14.2" },
      }),
      "oldest/index.js": `${commonJs} new Kernel().app("oldest").action("where", async (_context) => "0.14");`,
    },
    "index.ts",
  );
  expect(await outputsOf(source)).toEqual({ "outer where": "0.84", "older where": "0.49", "oldest where": "0.14" });
});

const register = (value: string): string => `
  const handler = async () => ${value};
  (globalThis as any)[Symbol.for("shoal.apps.v1")] = new Map([["a", { name: "a", actions: new Map([["b", { handler }]]) }]]);
`;
const paths = JSON.stringify({ compilerOptions: { module: "preserve", paths: { "@lib/*": ["./lib/*"] } } });

it.each<[what: string, entry: string, files: Readonly<Record<string, string>>]>([
  [
    "JSX",
    "main.tsx",
    {
      "package.json": '{"type":"module"}',
      "tsconfig.json": JSON.stringify({ compilerOptions: { jsx: "react", jsxFactory: "h" } }),
      "main.tsx": `const h = (tag: string, _props: unknown, ...children: string[]) => tag + children.join("");
        ${register('(<b>{"right"}</b>) === "bright" && "right"')}`,
    },
  ],
  [
    "paths of tsconfig.json",
    "main.ts",
    {
      "package.json": '{"type":"module"}',
      "tsconfig.json": paths,
      "lib/answer.ts": 'export const answer = "right";',
      "main.ts": `import { answer } from "@lib/answer"; ${register("answer")}`,
    },
  ],
  [
    "imports without an extension, of a file and of a folder",
    "src/main.ts",
    {
      "package.json": '{"type":"module"}',
      "src/one.ts": 'export const one = "ri";',
      "src/two/index.ts": 'export const two: string = "ght";',
      "src/main.ts": `import { one } from "./one"; import { two } from "./two"; ${register("one + two")}`,
    },
  ],
  [
    "an .mts file in a package without a type, with top-level await",
    "main.mts",
    {
      "package.json": "{}",
      "main.mts": `const answer = await Promise.resolve("right"); ${register("answer")}`,
    },
  ],
  [
    "a .cts file in a package of modules",
    "main.cts",
    {
      "package.json": '{"type":"module"}',
      "part.cts": 'module.exports = { answer: "right" };',
      "main.cts": `const { answer } = require("./part.cts"); ${register("__dirname.length > 0 && answer")}`,
    },
  ],
  [
    "CommonJS in JavaScript",
    "main.js",
    {
      "package.json": "{}",
      "part.js": 'exports.answer = "right";',
      "main.js": `const { answer } = require("./part"); ${register("answer").replace("(globalThis as any)", "globalThis")}`,
    },
  ],
  [
    "enums, decorators and namespaces",
    "main.ts",
    {
      "package.json": '{"type":"module"}',
      "tsconfig.json": JSON.stringify({ compilerOptions: { experimentalDecorators: true } }),
      "main.ts": `enum Answer { Right = "right" }
        namespace Deep { export const answer = Answer.Right; }
        const sealed = (_target: unknown) => undefined;
        @sealed class Kept {}
        ${register("new Kept() && Deep.answer")}`,
    },
  ],
])("builds and runs %s", async (_what, entry, files) => {
  expect(await outputsOf(await sourceOf(files, entry))).toEqual({ "a b": "right" });
});
