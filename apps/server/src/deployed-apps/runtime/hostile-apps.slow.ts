import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { AppResult } from "./app-runtime.ts";
import { openRuntime, runnable, sourceOf, type TestRuntime } from "./testing/runtime.ts";

const signal = new AbortController().signal;

async function invoke(
  { runtime, on }: TestRuntime,
  code: string,
  files: Record<string, string> = {},
): Promise<AppResult> {
  const source = await sourceOf(
    {
      "package.json": JSON.stringify({ type: "module" }),
      "main.ts": `
        import * as fs from "node:fs";
        import * as child from "node:child_process";
        const handler = async () => { ${code} };
        globalThis[Symbol.for("shoal.apps.v1")] = new Map([["a", { name: "a", actions: new Map([["b", { handler }]]) }]]);
      `,
      ...files,
    },
    "main.ts",
  );
  const built = await runtime.build(source, on, signal);
  const program = await runtime.start(runnable(source, built), on, signal);
  const result = await program.invoke({ invocation_id: "i1", app_name: "a", action_name: "b" });
  await program.ended;
  return result;
}

const output = (result: AppResult): unknown => JSON.parse(result.output ?? "null");

it("shows an app nothing of the host, the service or other apps", async () => {
  const opened = await openRuntime();
  const result = await invoke(
    opened,
    `const list = (path) => { try { return fs.readdirSync(path); } catch (error) { return error.code; } };
     return {
       root: list("/"), run: list("/run/shoal"), home: list("/home"), opt: list("/opt/shoal"), tmp: list("/tmp"),
       processes: list("/proc").filter((name) => /^\\d+$/.test(name)).length,
       texts: list("/proc").filter((name) => /^\\d+$/.test(name)).flatMap((id) => ["environ", "cmdline", "mountinfo"].map((name) => {
         try { return fs.readFileSync("/proc/" + id + "/" + name, "utf8"); } catch { return ""; }
       })),
     };`,
  );
  const seen = output(result) as Record<string, string | string[]>;
  expect(seen.root).not.toContain("root");
  expect(seen.run).toEqual(["api.sock", "egress.sock"]);
  expect(seen.opt).toEqual(["app-runner", "node"]);
  expect(seen.home).toEqual(["shoal"]);
  expect(seen.processes).toBeLessThan(6);
  // The key is in memory of the program alone, so that `ps` does not show it to the programs that it starts.
  expect([seen.texts].flat().join("\n")).not.toContain("sk_app");
});

it("ends an app with everything that it started", async () => {
  const marker = `7${String(process.pid)}.125`;
  const result = await invoke(
    await openRuntime(),
    `const sleeper = child.spawn("sleep", ["${marker}"], { detached: true, stdio: "inherit" }); sleeper.unref(); return 1;`,
  );
  expect(result).toEqual({ status: "succeeded", output: "1" });
  await expect.poll(() => execFileSync("ps", ["-e", "-o", "args"], { encoding: "utf8" })).not.toContain(marker);
});

it("limits the memory, the files and the processes of an app", async () => {
  const opened = await openRuntime({ app: { memoryBytes: 256 * 2 ** 20, diskBytes: 8 * 2 ** 20 } });
  const memory = await invoke(opened, `const held = []; for (;;) held.push(Buffer.alloc(16 * 2 ** 20, 1));`);
  expect(memory).toMatchObject({ status: "failed", status_reason: expect.stringContaining("memory") as string });
  const disk = await invoke(opened, `fs.writeFileSync("/tmp/big", Buffer.alloc(16 * 2 ** 20));`);
  expect(output(disk)).toEqual({ error: expect.stringContaining("ENOSPC") as string });
  const processes = await invoke(
    opened,
    `let failed = 0;
     for (let i = 0; i < 700; i++) {
       const started = child.spawn("sleep", ["60"]);
       started.on("error", () => failed++);
     }
     await new Promise((done) => setTimeout(done, 500));
     return failed > 0;`,
  );
  expect(output(processes)).toBe(true);
});

it("survives results and lines that break every rule", async () => {
  const opened = await openRuntime();
  const long = await invoke(
    opened,
    `process.stdout.write("x".repeat(1_000_000) + "\\n"); process.stdout.write(Buffer.alloc(200_000, 255)); console.log("\\n\\0 \\ud800"); return 1;`,
  );
  expect(long).toEqual({ status: "succeeded", output: "1" });
  expect(opened.lines.every(({ text }) => Buffer.byteLength(text) <= 64 * 1024)).toBe(true);
  expect(opened.lines.every(({ text }) => text.isWellFormed() && !text.includes("\0"))).toBe(true);
  expect(opened.lines.at(-1)?.text).toBe("\ufffd \ufffd");
  const forged = [
    `Buffer.from([255, 255, 255, 255, 1])`,
    `Buffer.from([0, 0, 0, 1, 9, 0])`,
    `Buffer.from([0, 0, 0, 1, 2, 49, 0, 0, 0, 1, 2, 50])`,
    `(() => { const body = Buffer.from("[".repeat(100_000)); const head = Buffer.alloc(5); head.writeUInt32BE(body.length); head[4] = 1; return Buffer.concat([head, body]); })()`,
  ];
  for (const bytes of forged) {
    const result = await invoke(
      opened,
      `fs.writeSync(6, ${bytes}); await new Promise((done) => setTimeout(done, 60_000));`,
    );
    expect(result.status).toBe("failed");
  }
});

it("starts an app that sends invalid compiled code", async () => {
  const { on, runtime } = await openRuntime();
  const source = await sourceOf(
    {
      "package.json": JSON.stringify({ type: "module" }),
      "main.ts": `
        import { writeSync } from "node:fs";
        const body = Buffer.from(JSON.stringify({ type: "compiled", name: "a" }));
        const message = Buffer.concat([Buffer.from([0, 0, 0, body.length, 1]), body]);
        writeSync(6, Buffer.concat([message, message]));
        globalThis[Symbol.for("shoal.apps.v1")] = new Map([["a", { name: "a", actions: new Map([["b", { handler: () => 1 }]]) }]]);
      `,
    },
    "main.ts",
  );
  const { apps } = await runtime.build(source, on, signal);
  expect(apps.map(({ name }) => name)).toEqual(["a"]);
});

it("keeps the order of 200,000 lines", async () => {
  const opened = await openRuntime();
  await invoke(opened, `for (let i = 0; i < 200_000; i++) console.log("line " + i);`);
  const printed = opened.lines.filter(({ source }) => source === "stdout");
  expect(printed).toHaveLength(200_000);
  expect(printed.findIndex(({ text }, index) => text !== `line ${String(index)}`)).toBe(-1);
});

it("does not let an app change the artifact that the next program runs", async () => {
  const opened = await openRuntime();
  const result = await invoke(
    opened,
    `const tried = (run) => { try { run(); return "done"; } catch (error) { return error.code; } };
     return [tried(() => fs.writeFileSync("/boot-node/main.ts", "")), tried(() => fs.chmodSync("/boot-node", 0o777)),
       tried(() => fs.unlinkSync("/opt/shoal/app-runner/runner.cjs"))];`,
  );
  expect(output(result)).toEqual(["EROFS", "EROFS", "EROFS"]);
  expect(readFileSync("/proc/self/mounts", "utf8")).not.toContain(opened.folder);
});
