import { eventually, eventuallyPasses } from "@shoal/testkit";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { serveProcesses, type ServedProcesses } from "./testing/serve-processes.ts";

function processesWith(text: string): number[] {
  return readdirSync("/proc").flatMap((name) => {
    try {
      return /^\d+$/.test(name) && readFileSync(`/proc/${name}/cmdline`, "utf8").replaceAll("\0", " ").includes(text)
        ? [Number(name)]
        : [];
    } catch {
      return [];
    }
  });
}

describe.skipIf(process.platform === "win32")("browsers.process.exec", () => {
  let served: ServedProcesses;
  beforeAll(async () => {
    served = await serveProcesses({ execBytes: 1024 * 1024 });
  });
  afterAll(async () => {
    await served[Symbol.asyncDispose]();
    expect(served.faults).toEqual([]);
  });

  it("runs a program to its end and returns both channels and the exit code", async () => {
    const answer = await served.exec({ command: "sh", args: ["-c", "echo out; echo err >&2; exit 3"] });
    expect(answer).toMatchObject({ status: 200, stdout: "out\n", stderr: "err\n", body: { exit_code: 3 } });
    expect(answer.body.timed_out).toBeUndefined();
    expect(answer.body.duration_ms).toBeGreaterThanOrEqual(0);
  });

  it("passes arguments unchanged", async () => {
    const args = ["a b", "$HOME", "*", "'", "", "é€"];
    expect((await served.exec({ command: "printf", args: ["%s|", ...args] })).stdout).toBe(`${args.join("|")}|`);
  });

  it("runs a line without arguments in a shell, unless a program has this name", async () => {
    expect((await served.exec({ command: "echo a; echo $((1+1)) | cat" })).stdout).toBe("a\n2\n");
    await writeFile(join(served.root, "home/shoal/my program"), "#!/bin/sh\necho mine\n", { mode: 0o755 });
    expect((await served.exec({ command: "./my program" })).stdout).toBe("mine\n");
    expect((await served.exec({ command: "pwd" })).stdout).toBe(`${served.root}/home/shoal\n`);
  });

  it("runs in the home directory or the given directory, with the given variables", async () => {
    await mkdir(join(served.root, "work"));
    const answer = await served.exec({
      command: "echo $PWD $HOME $A $SHOAL_SESSION_DIR",
      cwd: "/work",
      env: { A: "1", SHOAL_SESSION_DIR: "other" },
    });
    expect(answer.stdout).toBe(`${served.root}/work ${served.root}/home/shoal 1 ${served.root}\n`);
  });

  it("runs with an empty input", async () => {
    expect((await served.exec({ command: "cat | wc -c" })).stdout.trim()).toBe("0");
  });

  it("reports the signal that ended a program as a shell does", async () => {
    expect((await served.exec({ command: "kill -TERM $$" })).body.exit_code).toBe(143);
  });

  it("kills a program and its descendants at the timeout, and returns the previous output", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
    onTestFinished(() => {
      vi.useRealTimers();
    });
    // Names the processes of this run.
    const seconds = `7001.${String(process.pid)}${String(Date.now())}`;
    const asked = served.exec({
      command: `echo before; sleep ${seconds} & setsid sleep ${seconds} & echo > begun; sleep ${seconds}`,
      timeout_sec: 1,
    });
    await eventually("the processes run", () => existsSync(join(served.root, "home/shoal/begun")));
    vi.advanceTimersByTime(1_000);
    const answer = await asked;
    expect(answer).toMatchObject({ status: 200, stdout: "before\n", body: { timed_out: true, exit_code: 137 } });
    expect(answer.body.duration_ms).toBeGreaterThanOrEqual(1000);
    if (process.platform === "linux")
      await eventuallyPasses(() => {
        expect(processesWith(seconds)).toEqual([]);
      });
  });

  it("sets no limit of time with a timeout of 0", async () => {
    const answer = await served.exec({ command: "sleep 0.05; echo done", timeout_sec: 0 });
    expect(answer).toMatchObject({ status: 200, stdout: "done\n", body: { exit_code: 0 } });
    expect(answer.body.timed_out ?? false).toBe(false);
  });

  it("does not wait for background programs, which continue", async () => {
    const answer = await served.exec({ command: "(while :; do echo tick 2>/dev/null; sleep 0.02; done) & echo $!" });
    const pid = Number(answer.stdout.split("\n").find((line) => /^\d+$/.test(line)));
    expect(process.kill(pid, 0)).toBe(true);
    process.kill(pid);
  });

  it("kills a program when the client disconnects", async () => {
    const gone = new AbortController();
    const asked = served.exec({ command: "echo $$ > started; sleep 7010" }, gone.signal).catch(() => undefined);
    // The file exists, and is empty, before the shell has written to it.
    const pid = await eventuallyPasses(() => {
      const [, found] = /^(\d+)\n$/.exec(readFileSync(join(served.root, "home/shoal/started"), "utf8")) ?? [];
      if (found === undefined) throw new Error("It has not begun.");
      return Number(found);
    });
    gone.abort();
    await asked;
    await eventuallyPasses(() => {
      expect(() => process.kill(pid, 0)).toThrow("ESRCH");
    });
  });

  it("kills a program that writes too much, and suggests a remedy", async () => {
    const answer = await served.exec({ command: "head -c 2000000 /dev/zero; sleep 7020" });
    expect(answer).toMatchObject({
      status: 413,
      code: "payload_too_large",
      message: expect.stringMatching(/1 MiB.*browsers\.process\.spawn/) as unknown,
    });
  });

  it.each([
    [{ command: "no-such-program" }, /body\.command: no-such-program was not found in PATH/],
    [{ command: "/no/such", args: ["x"] }, /body\.command: \/no\/such was not found/],
    [{ command: "/etc/passwd" }, /body\.command.*may not be run/],
    [{ command: "true", cwd: "/none" }, /body\.cwd: \/none does not exist/],
    [{ command: "true", cwd: "relative" }, /body\.cwd/],
    [{ command: "true", as_user: "no-such-user" }, /body\.as_user: the session has no user no-such-user/],
    [{ command: "true", as_user: "shoal", as_root: true }, /body\.as_root: give at most one/],
    [{ command: "true", timeout_sec: -1 }, /body\.timeout_sec/],
    [{ command: "" }, /body\.command/],
    [{ command: "true", env: { "A=B": "1" } }, /body\.env/],
  ])("rejects %j", async (body, message) => {
    expect(await served.exec(body)).toMatchObject({ status: 400, message: expect.stringMatching(message) as unknown });
  });

  it("reports that a script's interpreter does not exist", async () => {
    await writeFile(join(served.root, "home/shoal/script"), "#!/no/such/interpreter\n", { mode: 0o755 });
    expect(await served.exec({ command: "./script" })).toMatchObject({
      status: 400,
      message: expect.stringContaining("interpreter") as unknown,
    });
  });

  it.skipIf(process.getuid?.() !== 0)("runs as another user when the instance is root", async () => {
    const answer = await served.exec({ command: "id", args: ["-un"], as_user: "nobody" });
    expect(answer).toMatchObject({ status: 200, stdout: "nobody\n" });
    expect((await served.exec({ command: "id -un", as_root: true })).stdout).toBe("root\n");
  });
});
