import { eventuallyPasses } from "@shoal/testkit";
import { readdirSync, readlinkSync } from "node:fs";
import { expect, it, describe, beforeAll, afterAll } from "vitest";
import { nativeTerminalFile } from "./children/native-terminal.ts";
import { serveProcesses, type ServedProcesses } from "./testing/serve-processes.ts";

const b64 = (text: string) => Buffer.from(text).toString("base64");
const missing = nativeTerminalFile() === undefined && process.env.SHOAL_REQUIRE_ALL !== "1";

describe.skipIf(missing)(
  `a terminal${missing ? " (needs @lydell/node-pty of this platform, an optional package)" : ""}`,
  () => {
    let served: ServedProcesses;
    beforeAll(async () => {
      served = await serveProcesses();
    });
    afterAll(async () => {
      await served[Symbol.asyncDispose]();
      expect(served.faults).toEqual([]);
    });
    const spawned = async (body: object) => {
      const answer = await served.spawn({ allocate_tty: true, ...body });
      expect(answer).toMatchObject({ status: 200 });
      return answer.body.process_id;
    };
    const untilShown = async (id: string, text: string | RegExp) => {
      let shown = "";
      for await (const frame of served.output(id)) {
        shown += frame.text;
        if (shown.search(text) !== -1) break;
      }
      return shown;
    };

    it("is a terminal of the requested size for its program, and reports the exit code", async () => {
      const id = await spawned({
        command: "test -t 0 && test -t 1 && test -t 2 && stty size && echo $TERM; exit 6",
        cols: 101,
        rows: 33,
      });
      expect(await served.all(id)).toEqual({ stdout: "33 101\r\nxterm-256color\r\n", stderr: "", exitCode: 6 });
      expect((await served.all(await spawned({ command: "stty size" }))).stdout).toBe("24 80\r\n");
    });

    it("notifies its program of a new size", async () => {
      const id = await spawned({ command: "trap 'stty size; exit 0' WINCH; echo ready; while :; do sleep 0.05; done" });
      await untilShown(id, "ready");
      expect(await served.post(id, "resize", { cols: 132, rows: 50 })).toMatchObject({
        status: 200,
        body: { ok: true },
      });
      expect((await served.all(id)).stdout).toContain("50 132\r\n");
      expect(await served.post(id, "resize", { cols: 0, rows: 50 })).toMatchObject({ status: 400 });
    });

    it("runs a shell that echoes and runs input, stops at Ctrl-C and ends at Ctrl-D", async () => {
      const id = await spawned({ command: "/bin/sh", env: { PS1: "$ " } });
      const type = (text: string) => served.post(id, "stdin", { data_b64: b64(text) });
      await untilShown(id, /\$ $/);
      await type("echo $((40+2))\n");
      await untilShown(id, /42\r\n/);
      await type("sh -c 'trap \"exit 131\" INT; echo up; while :; do sleep 0.05; done'\n");
      await untilShown(id, /\nup\r\n/);
      await type("\x03");
      await untilShown(id, /\^C/);
      await type("echo after-$?\n");
      // 130 if the signal arrived before the shell could handle it.
      await untilShown(id, /after-13[01]/);
      await served.post(id, "stdin", { data_b64: "", close: true });
      expect((await served.all(id)).exitCode).toBe(0);
    });

    it("delivers all output at the exit, also to a slow reader", async () => {
      for (let index = 0; index < 5; index++)
        expect(
          (await served.all(await spawned({ command: "head -c 200000 /dev/zero | tr '\\0' x" }))).stdout.length,
        ).toBe(200_000);
    });

    it("reports the exit code of a program that leaves its terminal before it ends", async () => {
      const id = await spawned({ command: "trap 'exit 1' HUP; echo before; exec 0<&- 1>&- 2>&-; sleep 0.3; exit 5" });
      expect(await served.all(id)).toMatchObject({ stdout: "before\r\n", exitCode: 5 });
    });

    it("is killed with its programs", async () => {
      const id = await spawned({ command: "/bin/sh" });
      await served.post(id, "stdin", { data_b64: b64("sleep 7201 | sleep 7202\n") });
      await untilShown(id, "sleep 7202");
      expect((await served.status(id)).body.state).toBe("running");
      await served.post(id, "kill", { signal: "KILL" });
      expect((await served.all(id)).exitCode).toBe(137);
    });

    it.skipIf(process.platform !== "linux")(
      "does not reach other programs of the session, nor is one left open",
      async () => {
        const before = openTerminals();
        const id = await spawned({ command: "cat" });
        const { stdout } = await served.exec({ command: "ls -l /proc/self/fd" });
        expect(stdout).not.toMatch(/ptmx|pts/);
        await served.post(id, "kill", { signal: "KILL" });
        await served.all(id);
        // The previous test may have left a process that was being closed.
        await eventuallyPasses(() => {
          expect(openTerminals()).toBeLessThanOrEqual(before);
        });
      },
    );

    it("leaves no descriptor open after commands whose arguments are too long", async () => {
      const id = await spawned({ command: "/bin/sh" });
      const descriptors = () => readdirSync("/proc/self/fd").length;
      const before = descriptors();
      for (let count = 0; count < 20; count += 1)
        expect((await served.spawn({ command: "/bin/true", args: ["x".repeat(131_072)] })).status).not.toBe(200);
      expect(descriptors()).toBeLessThan(before + 10);
      await served.post(id, "kill", { signal: "KILL" });
    });

    it("requires an existing program", async () => {
      expect(await served.spawn({ command: "no-such-program", allocate_tty: true })).toMatchObject({
        status: 400,
        message: expect.stringContaining("no-such-program") as unknown,
      });
    });
  },
);

function openTerminals(): number {
  return readdirSync("/proc/self/fd").filter((fd) => {
    try {
      return /ptmx|\/pts\//.test(readlinkSync(`/proc/self/fd/${fd}`));
    } catch {
      return false;
    }
  }).length;
}
