import { ApiError, type Browser } from "@shoal/client";
import { eventually } from "@shoal/testkit";
import Kernel from "@onkernel/sdk";
import { randomInt } from "node:crypto";
import { request } from "node:http";
import { beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { allProcesses, chromiums, instances, killAll } from "../testing/processes.ts";
import { codeOf, refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const utf8 = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();
const base64 = (text: string) => Buffer.from(text).toString("base64");
const isRoot = process.getuid?.() === 0;

/** Begins the seconds of every `sleep`, so that it differs from other runs on the machine. */
const mark = String(randomInt(10_000, 100_000));

/** Whether a process of the host contains a text in its command line. */
const runs = (text: string) => allProcesses().some(({ command }) => command.includes(text));

describe.each(placements)("processes in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a session", () => {
    const test = useService(() => ["--placement", placement]);
    const session = useSession(test);
    const processes = () => test.shoal.browsers.process;

    it("runs commands in the session's files, as the session's user", async () => {
      await test.shoal.browsers.fs.writeFile(session.id, "from the API\n", { path: "/home/shoal/file.txt" });
      const { stdout, exitCode, timedOut } = await processes().run(session.id, {
        command: "cat file.txt; id -u; echo made > made.txt; exit 7",
      });
      expect([stdout, exitCode, timedOut]).toEqual([
        `from the API\n${placement === "sandbox" ? 1000 : String(process.getuid?.())}\n`,
        7,
        false,
      ]);
      expect(await test.shoal.browsers.fs.readText(session.id, { path: "/home/shoal/made.txt" })).toBe("made\n");
      const { stdout: where } = await processes().run(session.id, { command: "pwd; cd ~ && pwd", cwd: "/tmp" });
      expect(where).toMatch(
        placement === "sandbox" ? /^\/tmp\n\/home\/shoal\n$/ : /\/root\/tmp\n.*\/root\/home\/shoal\n$/,
      );
    });

    it("lists the available users", async () => {
      const asked = refusalOf(processes().run(session.id, { command: "true", as_user: "somebody" }));
      expect(await asked).toMatchObject({
        status: 400,
        message: expect.stringMatching(/body\.as_user: the session has no user somebody/) as unknown,
      });
      if (placement === "sandbox" || !isRoot)
        expect(await refusalOf(processes().run(session.id, { command: "true", as_root: true }))).toMatchObject({
          status: 400,
          message: expect.stringMatching(/everything in it runs as/) as unknown,
        });
      if (placement === "sandbox")
        for (const as_user of ["shoal", "1000"])
          expect((await processes().run(session.id, { command: "id -un", as_user })).stdout).toBe("shoal\n");
    });

    it("hides the service's environment from commands", async () => {
      const { stdout } = await processes().run(session.id, { command: "env" });
      expect(stdout).toMatch(/^HOME=.*home\/shoal$/m);
      expect(stdout).toMatch(/^https_proxy=http:\/\/127\.0\.0\.1:\d+$/m);
      expect(stdout).not.toMatch(/SHOAL_INSTANCE|SHOAL_API_KEY/);
      expect(stdout).not.toContain(test.service.apiKey);
    });

    it("ends a command that times out, and returns its output", async () => {
      const { stdout, timedOut } = await processes().run(session.id, {
        command: `echo soon; sleep ${mark}301 & sleep ${mark}302`,
        timeout_sec: 30,
      });
      expect([stdout, timedOut]).toEqual(["soon\n", true]);
      await eventually("nothing of it runs", () => !runs(`sleep ${mark}30`));
    });

    it("ends everything that a timed-out command started, including daemons, and nothing else", async () => {
      const { session_id } = await test.shoal.browsers.create({ timeout_seconds: 600 });
      const exec = (command: string, timeout_sec?: number) =>
        processes().run(session_id, { command, ...(timeout_sec !== undefined && { timeout_sec }) });
      // Daemons of two ended commands.
      await exec(
        `setsid -f sleep ${mark}601 </dev/null >/dev/null 2>&1; env -i setsid -f sleep ${mark}602 </dev/null >/dev/null 2>&1`,
      );
      await eventually("the daemons run", () => runs(`sleep ${mark}601`) && runs(`sleep ${mark}602`));
      const quiet = "</dev/null >/dev/null 2>&1";
      const escapes = [
        `(setsid sleep ${mark}701 ${quiet} &)`,
        `(env -i setsid sleep ${mark}702 ${quiet} &)`,
        `sh -c '(sleep ${mark}703 ${quiet} & ) &'`,
        `nohup sleep ${mark}704 ${quiet} &`,
        `bash -c 'sleep ${mark}705 ${quiet} & disown'`,
        `setsid -f sleep ${mark}706 ${quiet}`,
        `env -i setsid -f sh -c 'setsid -f sleep ${mark}707 ${quiet}'`,
      ];
      const ended = await Promise.all(escapes.map((escape) => exec(`${escape}\nexec sleep ${mark}708`, 2)));
      expect(ended.map(({ timedOut }) => timedOut)).toEqual(escapes.map(() => true));
      await eventually("nothing of them runs", () => !runs(`sleep ${mark}70`));
      expect([runs(`sleep ${mark}601`), runs(`sleep ${mark}602`)]).toEqual([true, true]);
      await test.shoal.browsers.delete(session_id);
      await eventually("the daemons are gone", () => !runs(`sleep ${mark}60`));
    });

    it("streams a process's output while it receives input, until the exit", async () => {
      const { process_id } = await processes().spawn(session.id, {
        command: "while read line; do echo got $line; done; echo bye >&2; exit 3",
      });
      expect(await processes().status(session.id, process_id)).toMatchObject({ state: "running", exit_code: null });
      const texts = { stdout: "", stderr: "" };
      let exit: number | undefined;
      const reading = (async () => {
        for await (const piece of processes().output(session.id, process_id)) {
          if (piece.kind === "exit") exit = piece.exitCode;
          else texts[piece.kind] += Buffer.from(piece.bytes).toString();
        }
      })();
      await processes().write(session.id, process_id, "one\n");
      await eventually("it answers", () => texts.stdout === "got one\n");
      await processes().write(session.id, process_id, "two\n", { close: true });
      await reading;
      expect(texts).toEqual({ stdout: "got one\ngot two\n", stderr: "bye\n" });
      expect(exit).toBe(3);
      expect(await processes().status(session.id, process_id)).toMatchObject({ state: "exited", exit_code: 3 });
      expect(await codeOf(processes().write(session.id, process_id, "late"))).toBe("409 process_ended");
      expect(await codeOf(processes().status(session.id, "none"))).toBe("404 not_found");
    });

    it("kills a command when its caller disconnects, but not when a stream's reader does", async () => {
      const gone = new AbortController();
      const asked = processes()
        .run(session.id, { command: `sleep ${mark}303` }, { signal: gone.signal })
        .catch(() => undefined);
      await eventually("it runs", () => runs(`sleep ${mark}303`));
      gone.abort();
      await asked;
      await eventually("it is killed", () => !runs(`sleep ${mark}303`));

      const { process_id } = await processes().spawn(session.id, {
        command: "i=0; while [ $i -lt 200 ]; do echo $i; i=$((i+1)); sleep 0.005; done",
      });
      for await (const { kind } of processes().output(session.id, process_id)) if (kind === "stdout") break;
      let text = "";
      for await (const piece of processes().output(session.id, process_id))
        if (piece.kind === "stdout") text += Buffer.from(piece.bytes).toString();
      expect(text).toBe(Array.from({ length: 200 }, (_, index) => `${String(index)}\n`).join(""));
    });

    it("runs 200 processes at once, and refuses one more", async () => {
      const spawned = await Promise.all(
        Array.from({ length: 200 }, () => processes().spawn(session.id, { command: "cat" })),
      );
      expect(await refusalOf(processes().spawn(session.id, { command: "cat" }))).toMatchObject({
        status: 429,
        code: "too_many_processes",
      });
      await Promise.all(spawned.map(({ process_id }) => processes().kill(session.id, process_id, { signal: "KILL" })));
      await eventually("all have ended", async () =>
        (await Promise.all(spawned.map(({ process_id }) => processes().status(session.id, process_id)))).every(
          ({ state }) => state === "exited",
        ),
      );
      expect((await processes().run(session.id, { command: "echo", args: ["again"] })).stdout).toBe("again\n");
    });

    it("is not affected by a crash of the browser", async () => {
      const { process_id } = await processes().spawn(session.id, { command: "read x; echo $x" });
      const crashed = chromiums(test.processes());
      expect(crashed.length).toBeGreaterThan(0);
      killAll(crashed);
      await eventually("another browser runs", () =>
        chromiums(test.processes()).some(({ pid }) => crashed.every((old) => old.pid !== pid)),
      );
      await processes().write(session.id, process_id, "still here\n");
      let text = "";
      for await (const piece of processes().output(session.id, process_id))
        if (piece.kind === "stdout") text += Buffer.from(piece.bytes).toString();
      expect(text).toBe("still here\n");
    });

    it("works with the hosted service's SDK", async () => {
      const kernel = new Kernel({ apiKey: test.service.apiKey, baseURL: test.service.baseUrl });
      const result = await kernel.browsers.process.exec(session.id, {
        command: "sh",
        args: ["-c", "echo out; echo err >&2; exit 2"],
        timeout_sec: 30,
      });
      expect([utf8(result.stdout_b64), utf8(result.stderr_b64), result.exit_code]).toEqual(["out\n", "err\n", 2]);
      const { process_id = "" } = await kernel.browsers.process.spawn(session.id, {
        command: "sh",
        allocate_tty: true,
        cols: 90,
        rows: 20,
      });
      const output = await kernel.browsers.process.stdoutStream(process_id, { id: session.id });
      expect(await kernel.browsers.process.resize(process_id, { id: session.id, cols: 91, rows: 21 })).toEqual({
        ok: true,
      });
      expect(
        (await kernel.browsers.process.stdin(process_id, { id: session.id, data_b64: base64("stty size; exit 4\n") }))
          .written_bytes,
      ).toBe(18);
      let text = "";
      let exit: number | undefined;
      for await (const { data_b64, event, exit_code } of output) {
        text += utf8(data_b64);
        if (event === "exit") exit = exit_code;
      }
      expect(text).toContain("21 91\r\n");
      expect(exit).toBe(4);
      expect((await kernel.browsers.process.status(process_id, { id: session.id })).state).toBe("exited");
      expect(await kernel.browsers.process.kill(process_id, { id: session.id, signal: "TERM" })).toEqual({ ok: true });
    });

    describe("a terminal over a WebSocket", () => {
      let browser: Browser;
      beforeAll(async () => {
        browser = await test.shoal.browsers.get(session.id);
      });
      const addressOf = (processId: string) => browser.cdp_ws_url.replace("/cdp?", `/process/${processId}/attach?`);

      function attach(url: string) {
        const socket = new WebSocket(url);
        socket.binaryType = "arraybuffer";
        let shown = "";
        const texts: unknown[] = [];
        socket.addEventListener("message", ({ data }) => {
          if (typeof data === "string") texts.push(JSON.parse(data));
          else shown += Buffer.from(data as ArrayBuffer).toString();
        });
        const closed = new Promise<{ code: number; reason: string }>((resolve) => {
          socket.addEventListener("close", ({ code, reason }) => {
            resolve({ code, reason });
          });
        });
        const opened = new Promise((resolve, reject) => {
          socket.addEventListener("open", resolve);
          socket.addEventListener("error", () => {
            reject(new Error("refused"));
          });
        });
        return {
          socket,
          texts,
          closed,
          opened,
          shown: (text: string) => eventually(`the terminal shows ${text}`, () => shown.includes(text)),
        };
      }

      it("carries a shell: typing, resizing, disconnecting, reconnecting, and its end", async () => {
        const { process_id } = await processes().spawn(session.id, { command: "sh", allocate_tty: true });
        const first = attach(addressOf(process_id));
        await first.opened;
        first.socket.send(Buffer.from("A=kept; echo $((6*7))\n"));
        await first.shown("42\r\n");
        first.socket.send(JSON.stringify({ type: "resize", cols: 111, rows: 44 }));
        first.socket.send(Buffer.from("stty size\n"));
        await first.shown("44 111\r\n");
        first.socket.close();
        await first.closed;

        const second = attach(addressOf(process_id));
        await second.shown("42\r\n");
        second.socket.send(Buffer.from("echo $A-again; exit 9\n"));
        expect(await second.closed).toEqual({ code: 1000, reason: "the process has ended" });
        await second.shown("kept-again");
        expect(second.texts).toEqual([{ type: "exit", exit_code: 9 }]);
      });

      it("requires the session's token or a key, and a process with a terminal", async () => {
        const { process_id } = await processes().spawn(session.id, { command: "cat", allocate_tty: true });
        const { process_id: piped } = await processes().spawn(session.id, { command: "cat" });
        const path = (id: string) => `/browsers/${session.id}/process/${id}/attach`;
        const answer = (url: string, headers: Record<string, string> = {}) =>
          new Promise<number | undefined>((resolve, reject) => {
            const attempt = request(new URL(url, test.service.baseUrl), {
              headers: {
                connection: "Upgrade",
                upgrade: "websocket",
                "sec-websocket-version": "13",
                "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
                ...headers,
              },
            });
            attempt.once("upgrade", (_response, socket) => {
              socket.destroy();
              resolve(101);
            });
            attempt.once("response", (response) => {
              response.resume();
              resolve(response.statusCode);
            });
            attempt.once("error", reject);
            attempt.end();
          });
        const key = { authorization: `Bearer ${test.service.apiKey}` };
        const token = new URL(browser.cdp_ws_url).search;
        expect(await answer(path(process_id) + token)).toBe(101);
        expect(await answer(path(process_id), key)).toBe(101);
        expect(await answer(path(process_id))).toBe(401);
        expect(await answer(path(process_id), { authorization: "Bearer wrong" })).toBe(401);
        expect(await answer(`${path(process_id)}?jwt=wrong`, key)).toBe(401);
        expect(await answer(path(piped), key)).toBe(400);
        expect(await answer(path("none"), key)).toBe(404);
      });

      it("closes with a protocol code after an invalid message", async () => {
        const { process_id } = await processes().spawn(session.id, { command: "cat", allocate_tty: true });
        const attached = attach(addressOf(process_id));
        await attached.opened;
        attached.socket.send("not JSON");
        expect(await attached.closed).toMatchObject({ code: 1008 });
        expect(await processes().status(session.id, process_id)).toMatchObject({ state: "running" });
      });
    });
  });

  describe.skipIf(skip)("at the end of a session", () => {
    const test = useService(() => ["--placement", placement]);

    it.each(["deleted", "instance killed"])("no process is left, including daemons (%s)", async (way) => {
      const { session_id } = await test.shoal.browsers.create();
      const { process: processes } = test.shoal.browsers;
      // Without the session's mark in its environment, in the background, and one in a terminal.
      await processes.run(session_id, {
        command: "env",
        args: ["-i", "/bin/sh", "-c", `sleep ${mark}401 >/dev/null 2>&1 & sleep ${mark}402 >/dev/null 2>&1 &`],
      });
      const { process_id } = await processes.spawn(session_id, { command: "env", args: ["-i", "sleep", `${mark}403`] });
      await processes.spawn(session_id, { command: `setsid sleep ${mark}404`, allocate_tty: true });
      await processes.run(session_id, { command: `env -i setsid -f sleep ${mark}405 </dev/null >/dev/null 2>&1` });
      await eventually("all run", () =>
        ["401", "402", "403", "404", "405"].every((last) => runs(`sleep ${mark}${last}`)),
      );
      const stream = processes
        .output(session_id, process_id, { maxReconnects: 0 })
        .next()
        .catch((error: unknown) => error);
      if (way === "deleted") await test.shoal.browsers.delete(session_id);
      else killAll(instances(test.processes()));
      await eventually("nothing runs", () => !runs(`sleep ${mark}40`));
      // The stream ends with or without an error, but does not hang.
      await stream;
    });
  });

  // The process placement does not limit processes.
  if (placement !== "sandbox") return;
  describe.skipIf(skip)("a fork bomb", () => {
    const test = useService(() => ["--placement", placement]);

    it("reaches the box's limit; the instance continues, and can end it", async () => {
      const { session_id } = await test.shoal.browsers.create();
      const { process: processes } = test.shoal.browsers;
      const sleepers = () => test.processes().filter(({ command }) => command === `sleep ${mark}501`).length;
      const { process_id } = await processes.spawn(session_id, {
        command: `i=0; while [ $i -lt 3000 ]; do sleep ${mark}501 >/dev/null 2>&1 & i=$((i+1)); done`,
      });
      for await (const piece of processes.output(session_id, process_id))
        if (piece.kind === "exit") expect(piece.exitCode).not.toBe(0);
      await expect.poll(sleepers).toBeGreaterThan(300);
      expect(sleepers()).toBeLessThan(1_024);
      expect(
        (await test.shoal.browsers.fs.listFiles(session_id, { path: "/home/shoal" })).map(({ name }) => name),
      ).toEqual([".incoming-downloads", "Downloads"]);
      // Processes of the browser end now and then: what runs then is one more process of the full box.
      const isRefused = async (call: () => Promise<unknown>): Promise<boolean> => {
        const code = await call().then(
          () => undefined,
          (error: unknown) => ApiError.isInstance(error) && `${String(error.status)} ${error.code}`,
        );
        if (code !== undefined) expect(code).toBe("429 too_many_processes");
        return code !== undefined;
      };
      await eventually("a terminal is refused", () =>
        isRefused(() => processes.spawn(session_id, { command: "sh", allocate_tty: true })),
      );
      const more: string[] = [];
      await eventually("a script is refused", async () => {
        while (
          !(await isRefused(async () => more.push((await processes.spawn(session_id, { command: "cat" })).process_id)))
        );
        return isRefused(() => test.shoal.browsers.playwright.execute(session_id, { code: "return 1" }));
      });
      for (const id of [process_id, ...more]) await processes.kill(session_id, id, { signal: "KILL" });
      await eventually("they are gone", () => sleepers() === 0);
      expect(await test.shoal.browsers.playwright.execute(session_id, { code: "return 1" })).toMatchObject({
        success: true,
        result: 1,
      });

      await processes.run(session_id, { command: `bomb() { bomb | bomb & }; bomb; sleep ${mark}502`, timeout_sec: 3 });
      expect((await processes.run(session_id, { command: "echo", args: ["after"] })).stdout).toBe("after\n");
      await test.shoal.browsers.delete(session_id);
    });
  });
});
