import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { Repl } from "./repl.ts";

/** Runs code that may forge every message. Is ready at once, or when the file `ready` exists. */
const program = `
import { existsSync } from "node:fs";
const tell = (message) => process.send(message);
const write = (text) => tell({ type: "text", channel: "write", text });
const done = () => tell({ type: "done", end: { success: true } });
process.on("message", ({ code }) => eval(code));
const poll = () => existsSync("ready") ? tell({ type: "ready" }) : setTimeout(poll, 5);
poll();
`;

describe("a REPL", () => {
  let directory: string;
  let repl: Repl;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "repl-"));
    await writeFile(join(directory, "program.mjs"), program);
  });
  afterAll(() => rm(directory, { recursive: true }));
  afterEach(() => {
    repl.close();
  });

  const open = async (isReady = true): Promise<void> => {
    await rm(join(directory, "ready"), { force: true });
    if (isReady) await getReady();
    repl = new Repl({
      start: () => ({
        program: join(directory, "program.mjs"),
        directory,
        cacheDir: undefined,
        environment: {},
        answer: () => Promise.resolve(undefined),
        isUrlPattern: () => true,
      }),
      endpoint: () => Promise.reject(new Error("no browser")),
      visibleTarget: () => Promise.resolve(undefined),
    });
  };
  const getReady = () => writeFile(join(directory, "ready"), "");
  const run = (code: string, signal = new AbortController().signal) =>
    repl.run({ code, reset: false, timeoutSeconds: 300, signal });
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };

  it("ends its process when the caller of a tool leaves", async () => {
    await open();
    const { content } = await run(
      `process.on("message", ({ type }) => { if (type === "ask") globalThis.asked = true }); write(String(process.pid)); done()`,
    );
    const caller = new AbortController();
    const called = repl.invokeTool("ct_1", { input: {}, matches: [] }, caller.signal);
    const left = expect(called).rejects.toThrow("left");
    await expect.poll(async () => (await run("write(String(globalThis.asked)); done()")).content[0]?.text).toBe("true");
    caller.abort(new Error("left"));
    await left;
    await expect.poll(() => isAlive(Number(content[0]?.text))).toBe(false);
    expect(repl.customTools).toEqual([]);
  });

  it("ends a process that asks on and reads no answer", async () => {
    await open();
    // Writes to its channel, the first descriptor after those of a program, and lets nothing else run.
    const result = await run(`const { writeSync } = process.getBuiltinModule("node:fs");
      for (let id = 1; ; id++) {
        let rest = Buffer.from(JSON.stringify({ type: "ask", id, method: "none" }) + "\\n");
        while (rest.length > 0) try { rest = rest.subarray(writeSync(3, rest)) } catch {}
      }`);
    expect(result).toMatchObject({ success: false, repl_terminated: true });
    expect(result.error).toContain("without reading the answers");
  });

  it("does not run code of a caller who left while the process started", async () => {
    await open(false);
    const caller = new AbortController();
    // The rejection arrives while the process still starts.
    const left = expect(run("globalThis.ran = true; done()", caller.signal)).rejects.toThrow("gone");
    // The turn has begun.
    await new Promise((resolve) => setImmediate(resolve));
    caller.abort(new Error("gone"));
    await getReady();
    await left;
    expect((await run("write(typeof ran); done()")).content).toMatchObject([{ text: "undefined" }]);
  });

  it("says that the session ends while the process starts", async () => {
    await open(false);
    const waiting = run("done()");
    await new Promise((resolve) => setImmediate(resolve));
    repl.close();
    await expect(waiting).rejects.toMatchObject({ status: 503, code: "shutting_down" });
  });

  it.each([
    ["spins after its error", `process.on("exit", () => { for (;;); }); setTimeout(() => { throw 1 }, 1);`],
    ["forges its end", `setTimeout(() => tell({ type: "fatal", error: "forged" }), 1); setInterval(() => 0, 1000);`],
    ["leaves its channel", `setTimeout(() => process.disconnect(), 1); setInterval(() => 0, 1000);`],
  ])("ends a process that %s", async (_, code) => {
    await open();
    const fatal = `process.on("uncaughtException", () => tell({ type: "fatal", error: "x" }, () => process.exit(1)));`;
    const { content } = await run(`${fatal} write(String(process.pid)); ${code} done()`);
    const pid = Number(content[0]?.text);
    await expect.poll(() => isAlive(pid)).toBe(false);
    expect((await run("done()")).content[0]?.text).toContain("The process of earlier calls has ended");
  });

  it("tells once why a process ended, after its last output", async () => {
    await open();
    // The process may end during any of these calls.
    let told = "";
    const tell = async (code: string) => {
      const { content, error = "" } = await run(code);
      return (told += content.map(({ text }) => text).join("") + error);
    };
    await tell(`setTimeout(() => { write("why"); tell({ type: "fatal", error: "too late" }); }, 1); done()`);
    await expect.poll(() => tell("done()")).toMatch(/^why(?:The process of earlier calls has ended: )?too late\n?$/);
    expect(await run("process.exit(3)")).toMatchObject({ success: false, repl_terminated: true });
    expect(await run("done()")).toMatchObject({ success: true, content: [] });
  });

  it("names the reason why the service ended its process", async () => {
    await open();
    await run("globalThis.state = 1; done()");
    repl.endProcess("The session was forked.");
    const { content } = await run("write(typeof state); done()");
    expect(content.map(({ text }) => text)).toEqual([
      "The process of earlier calls has ended: The session was forked.\n",
      "undefined",
    ]);
  });

  it("limits parts and forged fields", async () => {
    await open();
    const parts = await run(`for (let i = 0; i < 10_001; i++) write("x"); done()`);
    expect([parts.content.length, parts.content_truncated]).toEqual([10_000, true]);
    const images = await run(
      `tell({ type: "image", mimeType: "image/png", base64: "" });
       tell({ type: "image", mimeType: "image/" + "x".repeat(1000), base64: "eA==" }); done()`,
    );
    expect(images).toMatchObject({ content: [], content_truncated: false });
    const long = `"x".repeat(200_000)`;
    const { error, stack } = await run(
      `tell({ type: "done", end: { success: false, error: ${long}, stack: ${long} } })`,
    );
    expect([error?.length, stack?.length]).toEqual([100_000, 8_000]);
  });
});
