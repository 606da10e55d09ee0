import { ApiError, type Browser, type CallOptions, ConnectionError, Shoal } from "@shoal/client";
import { browserComputer, browserProcess, executePlaywright } from "@shoal/contract";
import { eventually } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { startCuttingProxy } from "../testing/cutting-proxy.ts";
import { chromiums, instances, killAll, survivors } from "../testing/processes.ts";
import { fieldOf, repeatableCalls } from "../testing/repeatable-calls.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

type Ending = "done" | "gone" | "client left" | `${number} ${string}`;

/** Endless calls of every kind, and streams, all of one session. */
interface InFlight {
  readonly endings: Readonly<Record<string, Promise<Ending>>>;
  readonly ended: ReadonlyMap<string, Ending>;
  readonly sleeper: string;
  abandon(): void;
}

const streams = ["output", "watch", "logs", "telemetry"];

describe.each(placements)("calls in flight, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of a session", () => {
    let site: Site;
    let held: (() => void)[] = [];
    beforeAll(async () => {
      site = await serveSite((request, response) => {
        if (request.url === "/held") held.push(() => response.end("let go"));
        else response.writeHead(200, { "content-type": "text/html" }).end("<title>site</title>");
      });
    });
    afterAll(async () => {
      await site.close();
    });
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);

    async function fly({ session_id: id, cdp_ws_url: address }: Browser): Promise<InFlight> {
      const { browsers } = test.shoal;
      const leaving = new AbortController();
      const options = { signal: leaving.signal, maxRetries: 0, timeoutMs: 300_000 } as const;
      const following = { signal: leaving.signal, maxReconnects: 0 } as const;
      held = [];
      const { watch_id } = await browsers.fs.watch.start(id, { path: "/home/shoal" });
      const { process_id } = await browsers.process.spawn(id, { command: "cat" });
      const { replay_id } = await browsers.replays.start(id);
      const seen = new Set<string>();
      const read = async (name: string, stream: AsyncIterable<unknown>) => {
        for await (const _ of stream) seen.add(name);
      };
      const socket = new WebSocket(address);
      await new Promise((resolve) => {
        socket.onopen = resolve;
      });
      const calls: Record<string, () => Promise<unknown>> = {
        exec: () => browsers.process.run(id, { command: "sleep 7601" }, options),
        playwright: () =>
          browsers.playwright.execute(id, { code: "await page.waitForTimeout(600_000)", timeout_sec: 300 }, options),
        computer: () =>
          browsers.computer.batch(
            id,
            { actions: Array.from({ length: 20 }, () => ({ type: "sleep" as const, sleep: { duration_ms: 30_000 } })) },
            options,
          ),
        curl: () => browsers.curl(id, { url: `${site.url}held`, timeout_ms: 60_000 }, options),
        upload: () => browsers.fs.writeFile(id, endless(), { path: "/home/shoal/endless" }, options),
        replay: () => browsers.replays.download(id, replay_id, options).then(({ stream }) => stream.cancel()),
        cdp: () =>
          new Promise((resolve) => {
            socket.onclose = resolve;
            leaving.signal.addEventListener("abort", () => {
              socket.close();
            });
          }),
        output: () => read("output", browsers.process.output(id, process_id, following)),
        watch: () => read("watch", browsers.fs.watch.events(id, watch_id, following)),
        logs: () =>
          read("logs", browsers.logs.stream(id, { source: "supervisor", supervisor_process: "chromium" }, following)),
        telemetry: () => read("telemetry", browsers.telemetry.stream(id, { replay: "all" }, following)),
      };
      const ended = new Map<string, Ending>();
      const endings = Object.fromEntries(
        Object.entries(calls).map(([name, call]) => [
          name,
          endingOf(call()).then((ending) => {
            ended.set(name, ending);
            return ending;
          }),
        ]),
      );
      await browsers.process.write(id, process_id, "line\n");
      await browsers.fs.createDirectory(id, { path: "/home/shoal/made" });
      for (const name of streams) await eventually(`${name} is under way`, () => seen.has(name));
      await eventually("the browser's request is under way", () => held.length > 0);
      await eventually("the command is under way", () => sleepers() > 0);
      return {
        endings,
        ended,
        sleeper: process_id,
        abandon: () => {
          leaving.abort();
        },
      };
    }
    const below = () => test.processes();
    const sleepers = () => below().filter(({ command }) => command === "sleep 7601").length;
    const create = () =>
      test.shoal.browsers.create({
        timeout_seconds: 600,
        telemetry: { browser: { control: {}, platform: {}, connection: {}, system: {} } },
      });

    async function works(id: string): Promise<void> {
      const { browsers } = test.shoal;
      expect(
        await browsers.playwright.execute(id, { code: `await page.goto("${site.url}"); return page.title();` }),
      ).toMatchObject({
        success: true,
        result: "site",
      });
      expect((await browsers.process.run(id, { command: "echo", args: ["works"] })).stdout).toBe("works\n");
      expect((await browsers.computer.captureScreenshot(id)).contentType).toBe("image/png");
      expect((await browsers.curl(id, { url: site.url })).status).toBe(200);
    }

    it("end with an error when they need the killed Chromium, and continue otherwise", async () => {
      const browser = await create();
      const flight = await fly(browser);
      const [victim] = chromiums(below()).filter(
        ({ command }) => !command.includes("/replays/") && !command.includes("/curl"),
      );
      if (victim === undefined) throw new Error("No browser runs.");
      process.kill(victim.pid, "SIGKILL");
      expect(await flight.endings.cdp).toBe("done");
      expect(await flight.endings.playwright).toMatch(/^(done|50\d \w+)$/);
      for (const name of ["exec", "upload", ...streams])
        expect([name, flight.ended.get(name)]).toEqual([name, undefined]);
      for (const letGo of held) letGo();
      expect(await flight.endings.curl).toMatch(/^(done|50\d \w+)$/);
      await works(browser.session_id);
      flight.abandon();
      await Promise.all(Object.values(flight.endings));
      await test.shoal.browsers.delete(browser.session_id);
    });

    it("end when their client disconnects, and stop their work", async () => {
      const browser = await create();
      const flight = await fly(browser);
      flight.abandon();
      const endings = await Promise.all(
        Object.entries(flight.endings).map(async ([name, ending]) => [name, await ending] as const),
      );
      expect(endings.filter(([, ending]) => ending !== "client left" && ending !== "done")).toEqual([]);
      // A call with an idempotency key continues for a grace period, so that it can be repeated.
      await eventually("the command has been killed", () => sleepers() === 0);
      expect((await test.shoal.browsers.process.status(browser.session_id, flight.sleeper)).state).toBe("running");
      await works(browser.session_id);
      await expect
        .poll(async () =>
          (await test.shoal.browsers.fs.listFiles(browser.session_id, { path: "/home/shoal" })).map(({ name }) => name),
        )
        .toEqual([".incoming-downloads", "Downloads", "made"]);
      await test.shoal.browsers.delete(browser.session_id);
    });

    it("run once when their connection is lost and the client repeats them", async () => {
      const { session_id: id, cdp_ws_url } = await create();
      await using proxy = await startCuttingProxy(test.service.baseUrl);
      let retries = 0;
      const shoal = new Shoal({
        baseUrl: proxy.baseUrl,
        apiKey: test.service.apiKey,
        hooks: {
          onRetry: () => {
            retries++;
          },
        },
      });
      const calls = repeatableCalls(id, await fieldOf(cdp_ws_url));
      const answers = Promise.all(calls.map((call) => call.send(shoal)));
      for (const call of calls) await eventually(`${call.name} is under way`, () => call.isUnderWay(test.shoal));
      proxy.cut();
      await test.shoal.browsers.fs.writeFile(id, "", { path: "/home/shoal/go" });
      expect(await answers).toEqual(calls.map(() => 200));
      // On a busy machine the text may have been typed before the cut.
      expect(retries).toBeGreaterThanOrEqual(2);
      for (const call of calls) expect([call.name, await call.trace(test.shoal)]).toEqual([call.name, call.expected]);
      await test.shoal.browsers.delete(id);
    });

    it("continue while one of several callers waits", async () => {
      const { session_id: id, cdp_ws_url } = await create();
      const calls = repeatableCalls(id, await fieldOf(cdp_ws_url));
      const leaving = new AbortController();
      const lost = calls.map((call) =>
        endingOf(call.send(test.shoal, { idempotencyKey: call.name, signal: leaving.signal })),
      );
      for (const call of calls) await eventually(`${call.name} is under way`, () => call.isUnderWay(test.shoal));
      const answers = Promise.all(calls.map((call) => call.send(test.shoal, { idempotencyKey: call.name })));
      leaving.abort();
      // On a busy machine the text may have been typed before.
      expect((await Promise.all(lost)).slice(0, 2)).toEqual(["client left", "client left"]);
      await test.shoal.browsers.fs.writeFile(id, "", { path: "/home/shoal/go" });
      expect(await answers).toEqual(calls.map(() => 200));
      for (const call of calls) expect([call.name, await call.trace(test.shoal)]).toEqual([call.name, call.expected]);
      await test.shoal.browsers.delete(id);
    });

    it("are stopped when no client repeats them, and their keys then answer call_cut_off", async () => {
      const { session_id: id, cdp_ws_url } = await create();
      const { browsers } = test.shoal;
      const value = await fieldOf(cdp_ws_url);
      const leaving = new AbortController();
      const code = "(await import('node:fs')).appendFileSync('begun', 'x'); await new Promise(() => {});";
      // As many as may run at once: a further one waits until they end.
      const slots = ["code 1", "code 2", "code 3", "code 4"];
      const calls: Record<string, (options: CallOptions) => Promise<Response>> = {
        ...Object.fromEntries(
          slots.map((name) => [
            name,
            (options: CallOptions) =>
              test.shoal.transport.fetch(
                executePlaywright,
                { params: { id }, body: { code, timeout_sec: 300 } },
                options,
              ),
          ]),
        ),
        exec: (options) =>
          test.shoal.transport.fetch(
            browserProcess.execProcess,
            { params: { id }, body: { command: "echo x >> begun; sleep 7601" } },
            options,
          ),
        type: (options) =>
          test.shoal.transport.fetch(
            browserComputer.typeText,
            { params: { id }, body: { text: "never typed whole", delay: 10_000 } },
            options,
          ),
      };
      const lost = Object.entries(calls).map(([name, call]) =>
        endingOf(call({ idempotencyKey: name, signal: leaving.signal, maxRetries: 0, timeoutMs: 300_000 })),
      );
      await eventually("the command is under way", () => sleepers() > 0);
      await eventually(
        "the code is under way",
        async () =>
          (await browsers.fs.fileInfo(id, { path: "/home/shoal/begun" }).catch(() => undefined))?.size_bytes ===
          slots.length + 2,
      );
      await eventually("a text is being typed", async () => (await value()).startsWith("n"));
      leaving.abort();
      expect(new Set(await Promise.all(lost))).toEqual(new Set(["client left"]));
      await eventually("the command has been killed", () => sleepers() === 0);
      expect(await browsers.playwright.execute(id, { code: "return 'a slot is free'" })).toMatchObject({
        result: "a slot is free",
      });
      await browsers.computer.pressKey(id, { keys: ["End"] });
      const typed = await value();
      expect("never typed whole".startsWith(typed) && typed !== "never typed whole", typed).toBe(true);
      for (const [name, call] of Object.entries(calls)) {
        const answer = await call({ idempotencyKey: name });
        expect([name, answer.status, answer.headers.get("x-should-retry"), await answer.json()]).toMatchObject([
          name,
          409,
          "false",
          { code: "call_cut_off", message: expect.stringContaining("new key") as unknown },
        ]);
      }
      expect([sleepers(), await value()]).toEqual([0, typed]);
      expect((await browsers.fs.fileInfo(id, { path: "/home/shoal/begun" })).size_bytes).toBe(slots.length + 2);
      await browsers.delete(id);
    });

    it("all end with an error when the instance is killed", async () => {
      const browser = await create();
      const family = new Set(below().map(({ pid }) => pid));
      const flight = await fly(browser);
      const all = below().filter(
        ({ pid, command }) =>
          !command.includes("postgres") && (!family.has(pid) || instances([{ pid, parent: 0, command }]).length > 0),
      );
      killAll(instances(below()));
      const endings = await Promise.all(
        Object.entries(flight.endings).map(async ([name, ending]) => [name, await ending] as const),
      );
      // A recording belongs to the service; a stream may end normally with its session.
      expect(
        endings.filter(([name, ending]) => ending === "done" && !["cdp", "replay", ...streams].includes(name)),
      ).toEqual([]);
      const ended = await eventually("the session has ended", async () => {
        const found = await test.shoal.browsers.get(browser.session_id, { include_deleted: true });
        return found.deleted_at === undefined ? undefined : found;
      });
      expect(ended.ended_reason).toBe("instance_lost");
      await eventually("nothing of it is left", () => survivors(all).length === 0);
    });
  });
});

async function endingOf(call: Promise<unknown>): Promise<Ending> {
  try {
    await call;
    return "done";
  } catch (error) {
    if (ApiError.isInstance(error)) return `${error.status} ${error.code}`;
    if (ConnectionError.isInstance(error)) return "gone";
    if (error instanceof Error && error.name === "AbortError") return "client left";
    throw error;
  }
}

/** A body that never ends until it is cancelled. */
function endless(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      const pauseMs = 50; // slow, so that little is sent before the end
      await delay(pauseMs);
      controller.enqueue(new Uint8Array(100));
    },
  });
}
