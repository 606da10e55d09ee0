import { spawnSync } from "node:child_process";
import type { ListedProcess } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { type OutputFrame, serveProcesses, type ServedProcesses } from "./testing/serve-processes.ts";

function ps(column: "comm" | "stat", pid: number): string {
  return spawnSync("ps", ["-o", `${column}=`, "-p", String(pid)], { encoding: "utf8" }).stdout.trim();
}

function isAlive(pid: number): boolean {
  return !["", "Z"].includes(ps("stat", pid).slice(0, 1));
}

const b64 = (text: string) => Buffer.from(text).toString("base64");

describe.skipIf(process.platform === "win32")("browsers.process.spawn", () => {
  let served: ServedProcesses;
  beforeAll(async () => {
    served = await serveProcesses({
      // No pause of this thread makes a reader a stalled one.
      stalledMs: 2 ** 30,
      outputBytes: 256 * 1024,
      outputBytesPerSession: 1024 * 1024,
      readersPerProcess: 3,
    });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    expect(served.faults).toEqual([]);
  });
  const spawned = async (body: object) => {
    const answer = await served.spawn(body);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body.process_id;
  };

  it("starts a named process, and reports its status until it has ended", async () => {
    // Linux counts the start of a process in hundredths of a second since its own start.
    const before = Date.now() - 1_000;
    const { body } = await served.spawn({ command: "read x; exit 4" });
    expect(body.process_id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4/);
    expect(process.kill(body.pid, 0)).toBe(true);
    expect(Date.parse(body.started_at)).toSatisfy((moment: number) => moment >= before && moment <= Date.now());
    expect((await served.status(body.process_id)).body).toMatchObject({ state: "running", exit_code: null });
    expect((await served.post(body.process_id, "stdin", { data_b64: b64("\n") })).body).toEqual({ written_bytes: 1 });
    await eventuallyPasses(async () => {
      expect((await served.status(body.process_id)).body).toEqual({
        state: "exited",
        exit_code: 4,
        cpu_pct: 0,
        mem_bytes: 0,
      });
    });
  });

  it("lists pages of processes, running ones first, with their command and load", async () => {
    await using fresh = await serveProcesses();
    const start = async (body: object) => (await fresh.spawn(body)).body.process_id;
    const list = async (query: string) =>
      (await (await fetch(`${fresh.url}/process?${query}`)).json()) as readonly ListedProcess[];
    const busy = await start({ command: "while :; do :; done", allocate_tty: true });
    const ended = await start({ command: "sh", args: ["-c", `exit 3; ${"x".repeat(9000)}`] });
    await fresh.all(ended);
    await eventuallyPasses(async () => {
      const found = await list("limit=10");
      expect(found).toMatchObject([
        { process_id: busy, state: "running", exit_code: null, tty: true, command: "while :; do :; done" },
        { process_id: ended, state: "exited", exit_code: 3, tty: false },
      ]);
      expect(found[1]?.command).toHaveLength(200);
      if (process.platform !== "linux") return;
      // A busy machine leaves it little.
      expect(found[0]?.cpu_pct).toBeGreaterThan(0);
      expect(found[0]?.mem_bytes).toBeGreaterThan(100_000);
    });
    expect(await list("limit=1&offset=1")).toMatchObject([{ process_id: ended }]);
    await fresh.post(busy, "kill", { signal: "KILL" });
  });

  it("measures the processor time and memory of a process and its descendants", async () => {
    const busy = await spawned({ command: "(while :; do :; done) & wait" });
    const idle = await spawned({ command: "sleep", args: ["7101"] });
    await served.status(busy);
    await eventuallyPasses(async () => {
      const { cpu_pct = 0, mem_bytes = 0 } = (await served.status(busy)).body;
      // A busy machine leaves it little.
      expect(cpu_pct).toBeGreaterThan(0);
      expect(cpu_pct).toBeLessThan(150);
      expect(mem_bytes).toBeGreaterThan(100_000);
    });
    // The start of the process counts in the first measurement.
    await eventuallyPasses(async () => {
      expect((await served.status(idle)).body.cpu_pct).toBeLessThan(5);
    });
    await Promise.all([busy, idle].map((id) => served.post(id, "kill", { signal: "KILL" })));
    expect((await served.all(busy)).exitCode).toBe(137);
  });

  it("streams both channels, then the exit, to early readers, late readers and readers after the end", async () => {
    const id = await spawned({ command: "echo one; echo two >&2; read x; echo $x; exit 5" });
    const early = served.all(id);
    await served.post(id, "stdin", { data_b64: b64("three\n") });
    const whole = { stdout: "one\nthree\n", stderr: "two\n", exitCode: 5 };
    expect(await early).toEqual(whole);
    expect(await served.all(id)).toEqual(whole);
    const frames: OutputFrame[] = [];
    for await (const frame of served.output(id)) frames.push(frame);
    expect(frames.map((frame) => frame.id)).toEqual(frames.map((_, index) => String(index + 1)));
    expect(frames.at(-1)).toMatchObject({ event: "exit", exit_code: 5 });
    const rest: OutputFrame[] = [];
    for await (const frame of served.output(id, { lastEventId: frames[0]?.id ?? "" })) rest.push(frame);
    expect(rest).toEqual(frames.slice(1));
    await expect(served.output(id, { lastEventId: "99" }).next()).rejects.toThrow("400");
  });

  it("keeps output that was written just before the exit", async () => {
    for (let index = 0; index < 10; index++) {
      const { stdout, exitCode } = await served.all(await spawned({ command: "head -c 150000 /dev/zero" }));
      expect([stdout.length, exitCode]).toEqual([150_000, 0]);
    }
  });

  it("writes binary input in the order of the calls, and closes it on request", async () => {
    const id = await spawned({ command: "cat" });
    const pieces = Array.from({ length: 20 }, (_, index) => `${String(index)}\0\xff`);
    for (const piece of pieces)
      expect(
        (await served.post(id, "stdin", { data_b64: Buffer.from(piece, "latin1").toString("base64") })).status,
      ).toBe(200);
    await served.post(id, "stdin", { data_b64: "", close: true });
    expect(await served.all(id)).toEqual({ stdout: pieces.join(""), stderr: "", exitCode: 0 });
    expect(await served.post(id, "stdin", { data_b64: b64("late") })).toMatchObject({
      status: 409,
      code: "process_ended",
    });
  });

  it("rejects input that the process does not read, and answers when the process is killed", async () => {
    const id = await spawned({ command: "sleep", args: ["7102"] });
    const large = b64("x".repeat(512 * 1024));
    const waiting = Array.from({ length: 12 }, () => served.post(id, "stdin", { data_b64: large }));
    await eventuallyPasses(async () => {
      expect((await served.post(id, "stdin", { data_b64: large })).status).toBe(429);
    });
    await served.post(id, "kill", { signal: "KILL" });
    expect([...new Set((await Promise.all(waiting)).map(({ status }) => status))].sort()).toEqual([409, 429]);
  });

  it.each([
    ["TERM", 143],
    ["KILL", 137],
    ["INT", 130],
    ["HUP", 129],
  ])("kills descendants with %s too", async (signal, exitCode) => {
    const { body } = await served.spawn({ command: "echo $$; sleep 7103 & echo $!; wait" });
    const id = body.process_id;
    const seen: string[] = [];
    for await (const { text } of served.output(id)) {
      seen.push(...text.split("\n").filter(Boolean));
      if (seen.length === 2) break;
    }
    const descendant = Number(seen[1]);
    // A shell lets its background jobs ignore INT, but only from a moment before they run their program.
    await eventuallyPasses(() => {
      expect(ps("comm", descendant)).toMatch(/sleep$/);
    });
    expect((await served.post(id, "kill", { signal })).body).toEqual({ ok: true });
    expect((await served.all(id)).exitCode).toBe(exitCode);
    if (signal === "INT") process.kill(descendant, "SIGKILL");
    await eventuallyPasses(() => {
      expect(isAlive(descendant)).toBe(false);
    });
    expect((await served.post(id, "kill", {})).body).toEqual({ ok: true });
  });

  it.skipIf(process.platform !== "linux")("kills what a process that has ended left running", async () => {
    const id = await spawned({ command: "sleep 7105 >/dev/null 2>&1 & echo $!" });
    const { stdout } = await served.all(id);
    expect(isAlive(Number(stdout))).toBe(true);
    await served.post(id, "kill", { signal: "TERM" });
    await eventuallyPasses(() => {
      expect(isAlive(Number(stdout))).toBe(false);
    });
  });

  it("lets a process run without readers, keeps its last output, and reports the gap to a late reader", async () => {
    const id = await spawned({ command: "head -c 3000000 /dev/zero; echo the end" });
    await eventuallyPasses(async () => {
      expect((await served.status(id)).body.state).toBe("exited");
    });
    const frames: OutputFrame[] = [];
    for await (const frame of served.output(id)) frames.push(frame);
    expect(frames[0]?.missed).toBeGreaterThan(50);
    expect(frames.map(({ text }) => text).join("")).toMatch(/the end\n$/);
    expect(frames.at(-1)).toMatchObject({ event: "exit", exit_code: 0 });
  });

  const size = 20_000_000;

  it("makes a process wait for a slow reader", async () => {
    const id = await spawned({ command: `echo ready; read go; head -c ${String(size)} /dev/zero; echo done >&2` });
    const frames = served.output(id);
    // The reader is connected before the process writes more than its output keeps.
    await frames.next();
    await served.post(id, "stdin", { data_b64: b64("go\n") });
    let bytes = 0;
    for await (const { text, missed, stream } of frames) {
      expect(missed).toBeUndefined();
      if (stream === "stdout") bytes += text.length;
      if (bytes > 1_000_000) break;
      const slowReaderMs = 2;
      await new Promise((resolve) => setTimeout(resolve, slowReaderMs));
    }
    await eventuallyPasses(async () => {
      expect((await served.status(id)).body.state).toBe("exited");
    });
  });

  it("does not make a process wait for a stalled reader", async () => {
    await using impatient = await serveProcesses({ stalledMs: 100 });
    const { process_id } = (await impatient.spawn({ command: `head -c ${String(size)} /dev/zero` })).body;
    const still = impatient.output(process_id);
    await still.next();
    await eventuallyPasses(async () => {
      expect((await impatient.status(process_id)).body.state).toBe("exited");
    });
    await still.return(undefined);
  });

  it("sends every byte of long output to several readers", async () => {
    const id = await spawned({ command: "read x; head -c 5000000 /dev/zero" });
    const readers = [served.all(id), served.all(id)];
    await served.post(id, "stdin", { data_b64: b64("\n") });
    for (const { stdout } of await Promise.all(readers)) expect(stdout.length).toBe(5_000_000);
  });

  it("limits the kept output of all processes, and drops output of ended processes first", async () => {
    const ids: string[] = [];
    for (let index = 0; index < 8; index++) {
      const id = await spawned({ command: `head -c 150000 /dev/zero; echo ${String(index)}` });
      await served.all(id);
      ids.push(id);
    }
    const [first, last] = [await served.all(ids[0] ?? ""), await served.all(ids.at(-1) ?? "")];
    expect(first).toEqual({ stdout: "", stderr: "", exitCode: 0 });
    expect(last.stdout.length).toBe(150_002);
  });

  it("limits the readers of a process", async () => {
    const id = await spawned({ command: "echo ready; cat" });
    const gone = new AbortController();
    const readers = [1, 2, 3].map(() => served.output(id, { signal: gone.signal }));
    for (const reader of readers) expect((await reader.next()).value).toMatchObject({ text: "ready\n" });
    await expect(served.output(id).next()).rejects.toThrow("429");
    gone.abort();
    await Promise.all(readers.map((reader) => reader.return(undefined).catch(() => undefined)));
    await served.post(id, "kill", { signal: "KILL" });
    await eventuallyPasses(async () => {
      expect((await served.all(id)).exitCode).toBe(137);
    });
  });

  it("ends a process at its timeout", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    const id = await spawned({ command: "echo a; sleep 7104", timeout_sec: 1 });
    const output = served.output(id);
    await output.next();
    vi.advanceTimersByTime(1_000);
    vi.useRealTimers();
    await output.return(undefined);
    expect(await served.all(id)).toEqual({ stdout: "a\n", stderr: "", exitCode: 137 });
  });

  it("limits running processes and kept names, and reports both limits", async () => {
    await using few = await serveProcesses({ running: 2, handles: 3 });
    const ids: string[] = [];
    for (let index = 0; index < 2; index++) ids.push((await few.spawn({ command: "cat" })).body.process_id);
    for (const refused of [await few.spawn({ command: "cat" }), await few.exec({ command: "true" })])
      expect(refused).toMatchObject({
        status: 429,
        code: "too_many_processes",
        message: expect.stringMatching(/2 processes.*kill/) as unknown,
      });
    await few.post(ids[0] ?? "", "kill", {});
    await few.all(ids[0] ?? "");
    await few.spawn({ command: "true" });
    expect(await few.spawn({ command: "cat" })).toMatchObject({
      status: 429,
      message: expect.stringMatching(/exec/) as unknown,
    });
  });

  it("answers 404 for an unknown process, and 400 for a size without a terminal", async () => {
    for (const answer of [
      await served.status("none"),
      await served.post("none", "kill", {}),
      await served.post("none", "stdin", { data_b64: "" }),
      await served.post("none", "resize", { cols: 1, rows: 1 }),
    ]) {
      expect(answer).toMatchObject({ status: 404, code: "not_found" });
    }
    expect(await served.spawn({ command: "cat", cols: 80 })).toMatchObject({
      status: 400,
      message: expect.stringContaining("body.cols: needs allocate_tty") as unknown,
    });
    const id = await spawned({ command: "true" });
    expect(await served.post(id, "resize", { cols: 80, rows: 24 })).toMatchObject({
      status: 400,
      message: expect.stringContaining("no terminal") as unknown,
    });
  });
});
