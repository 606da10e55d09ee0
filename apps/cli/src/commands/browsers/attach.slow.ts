import { spawnSync } from "node:child_process";
import { readdirSync, readFileSync, readlinkSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { noChromium, startProcess, startTestService, type TestService } from "../../testing/shoal.ts";
import { noScript, onTerminal } from "../../testing/terminal.ts";

const missing = noScript() ?? (await noChromium());

/** Finds the terminal of a command by its last words, among those with a text in their environment. Linux only. */
function terminalOf(words: string, environment: string): string {
  for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
    try {
      const command = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
      const terminal = readlinkSync(`/proc/${pid}/fd/0`);
      if (!command.trimEnd().endsWith(words) || !terminal.startsWith("/dev/pts/")) continue;
      if (readFileSync(`/proc/${pid}/environ`, "utf8").includes(environment)) return terminal;
    } catch {
      // The process has exited.
    }
  }
  throw new Error(`Nothing runs with ${words}.`);
}

describe.skipIf(missing)(
  `shoal browsers process attach${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  () => {
    let test: TestService;
    beforeAll(async () => {
      test = await startTestService();
      await test.json("browsers", "create", "--name", "shells", "--timeout-seconds", "86400");
    });
    afterAll(() => test.close());
    const shows = (run: { screen(): string }, text: string | RegExp) => expect.poll(() => run.screen()).toMatch(text);

    it("opens an interactive shell with line editing, Ctrl-C, terminal size and exit status", async () => {
      const run = onTerminal(["browsers", "process", "attach", "shells"], { env: test.env, columns: 97 });
      await shows(run, /Attached\. Ctrl-\] detaches/);
      run.type("stty size\r");
      await shows(run, /40 97/);
      run.type("tty && echo o\x7fk-$((20+22))\r");
      await shows(run, /k-42/);
      run.type("sh -c 'trap \"echo caught; exit\" INT; echo up-$((1+1)); while :; do sleep 0.05; done'\r");
      await shows(run, /up-2/);
      run.type("\x03");
      await shows(run, /\^Ccaught/);
      expect(
        spawnSync("stty", ["-F", terminalOf("attach shells", test.folder), "cols", "71", "rows", "31"], {
          encoding: "utf8",
        }).stderr,
      ).toBe("");
      let asked = 0;
      await expect
        .poll(() => {
          // A terminal loses lines that a busy shell does not read: the next question follows the last answer.
          if ((run.screen().match(/\b\d+ \d+\b/g) ?? []).length >= asked) {
            asked++;
            run.type("stty size\r");
          }
          return run.screen();
        })
        .toMatch(/31 71/);
      run.type("exit 7\r");
      expect(await run.status).toBe(7);
    });

    it("detaches with Ctrl-] and attaches again", async () => {
      const { process_id } = (await test.json("browsers", "process", "spawn", "shells", "cat", "--allocate-tty")) as {
        process_id: string;
      };
      const first = onTerminal(["browsers", "process", "attach", "shells", process_id], { env: test.env });
      await shows(first, "Attached");
      first.type("said before\r");
      await shows(first, /said before\r+\nsaid before/);
      first.type("\x1d");
      expect(await first.status).toBe(0);
      expect(first.screen()).toContain(`shoal browsers process attach shells ${process_id}`);
      expect(await test.json("browsers", "process", "status", "shells", process_id)).toMatchObject({
        state: "running",
      });
      const second = onTerminal(["browsers", "process", "attach", "shells", process_id, "--quiet"], { env: test.env });
      await shows(second, /said before\r+\nsaid before/);
      second.type("\x04");
      expect(await second.status).toBe(0);
    });

    it("resets terminal modes when it detaches", async () => {
      const script = "printf '\\033[?1049h\\033[?25l'; echo full; cat";
      const spawned = await test.run(
        "browsers",
        "process",
        "spawn",
        "shells",
        "--allocate-tty",
        "--query",
        "process_id",
        "sh",
        "--",
        "-c",
        script,
      );
      const process_id = spawned.stdout.trim();
      const run = onTerminal(["browsers", "process", "attach", "shells", process_id], { env: test.env });
      await shows(run, "\u001b[?1049h\u001b[?25lfull");
      run.type("\x1d");
      expect(await run.status).toBe(0);
      const after = run.screen().slice(run.screen().indexOf("full"));
      expect(after).toContain("\u001b[?25h\u001b[?1049l");
      expect(after.indexOf("\u001b[?1049l")).toBeLessThan(after.indexOf("shoal browsers process attach"));
    });

    it("reads commands from a pipe", async () => {
      const run = startProcess(["browsers", "process", "attach", "shells"], test.env);
      run.stdin.end("echo from-$((1+1))\nexit 3\n");
      expect(await run.outcome).toMatchObject({
        status: 3,
        stderr: "",
        stdout: expect.stringContaining("from-2") as unknown,
      });
    });

    it("explains why it cannot attach", async () => {
      const { process_id } = (await test.json("browsers", "process", "spawn", "shells", "cat")) as {
        process_id: string;
      };
      expect(await test.run("browsers", "process", "attach", "shells", process_id)).toMatchObject({
        status: 2,
        stderr: expect.stringContaining("may not have a terminal") as unknown,
      });
      expect(await test.run("browsers", "process", "attach", "shells", "none")).toMatchObject({
        status: 4,
        stderr: expect.stringContaining("Process none was not found") as unknown,
      });
      expect((await test.run("browsers", "process", "attach", "nobody")).status).toBe(4);
    });
  },
);
