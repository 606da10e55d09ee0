import { ApiError, type Browser, ConnectionError } from "@shoal/client";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { placements } from "./testing/components.ts";
import { chromiums, descendantsOf, instances, survivors } from "./testing/processes.ts";
import { useService } from "./testing/service.ts";
import { serveSite, type Site } from "./testing/site.ts";
import { until } from "./testing/until.ts";

vi.setConfig({ testTimeout: 120_000 });

/** How a call ended, in a word or two. */
type Ending = "done" | "gone" | "client left" | `${number} ${string}`;

/** Calls of every kind that take as long as they are let, and streams, all of one session. */
interface InFlight {
  readonly endings: Readonly<Record<string, Promise<Ending>>>;
  /** Those that have ended. */
  readonly ended: ReadonlyMap<string, Ending>;
  readonly sleeper: string;
  /** Lets go of all of them. */
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
        exec: () => browsers.process.exec(id, { command: "sleep 7601" }, options),
        playwright: () => browsers.playwright.execute(id, { code: "await page.waitForTimeout(600_000)", timeout_sec: 300 }, options),
        computer: () => browsers.computer.batch(id, { actions: Array.from({ length: 20 }, () => ({ type: "sleep" as const, sleep: { duration_ms: 30_000 } })) }, options),
        curl: () => browsers.curl(id, { url: `${site.url}held`, timeout_ms: 60_000 }, options),
        upload: () => browsers.fs.writeFile(id, endless(), { path: "/home/shoal/endless" }, options),
        replay: () => browsers.replays.download(id, replay_id, options).then(({ stream }) => stream.cancel()),
        cdp: () => new Promise((resolve) => {
          socket.onclose = resolve;
          leaving.signal.addEventListener("abort", () => { socket.close(); });
        }),
        output: () => read("output", browsers.process.output(id, process_id, following)),
        watch: () => read("watch", browsers.fs.watch.events(id, watch_id, following)),
        logs: () => read("logs", browsers.logs.stream(id, { source: "supervisor", supervisor_process: "chromium" }, following)),
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
      for (const name of streams) await until(`${name} is under way`, () => seen.has(name));
      await until("the browser's request is under way", () => held.length > 0);
      await until("the command is under way", () => sleepers() > 0);
      return { endings, ended, sleeper: process_id, abandon: () => { leaving.abort(); } };
    }
    const below = () => descendantsOf(test.service.pid);
    const sleepers = () => below().filter(({ command }) => command === "sleep 7601").length;
    const create = () => test.shoal.browsers.create({ timeout_seconds: 600, telemetry: { browser: { control: {}, connection: {}, system: {} } } });

    async function works(id: string): Promise<void> {
      const { browsers } = test.shoal;
      expect(await browsers.playwright.execute(id, { code: `await page.goto("${site.url}"); return page.title();` })).toMatchObject({ success: true, result: "site" });
      expect((await browsers.process.run(id, { command: "echo", args: ["works"] })).stdout).toBe("works\n");
      expect((await browsers.computer.captureScreenshot(id)).contentType).toBe("image/png");
      expect((await browsers.curl(id, { url: site.url })).status).toBe(200);
    }

    it("end with an error where Chromium is killed under them, and go on where they do not need it", async () => {
      const browser = await create();
      const flight = await fly(browser);
      const [victim] = chromiums(below()).filter(({ command }) => !command.includes("/replays/") && !command.includes("/curl"));
      process.kill(victim?.pid ?? 0, "SIGKILL");
      expect(await flight.endings.cdp).toBe("done");
      expect(await flight.endings.playwright).toMatch(/^(done|50\d \w+)$/);
      for (const name of ["exec", "upload", ...streams]) expect([name, flight.ended.get(name)]).toEqual([name, undefined]);
      for (const letGo of held) letGo();
      expect(await flight.endings.curl).toMatch(/^(done|50\d \w+)$/);
      await works(browser.session_id);
      flight.abandon();
      await Promise.all(Object.values(flight.endings));
      await test.shoal.browsers.delete(browser.session_id);
    });

    it("end where their client leaves, and leave nothing that runs on", async () => {
      const browser = await create();
      const flight = await fly(browser);
      flight.abandon();
      const endings = await Promise.all(Object.entries(flight.endings).map(async ([name, ending]) => [name, await ending] as const));
      expect(endings.filter(([, ending]) => ending !== "client left" && ending !== "done")).toEqual([]);
      expect((await test.shoal.browsers.process.status(browser.session_id, flight.sleeper)).state).toBe("running");
      await works(browser.session_id);
      expect((await test.shoal.browsers.fs.listFiles(browser.session_id, { path: "/home/shoal" })).map(({ name }) => name)).toEqual(["Downloads", "made"]);
      await test.shoal.browsers.delete(browser.session_id);
    });

    it("all end where the instance is killed, with an error that says so", async () => {
      const browser = await create();
      const family = new Set(below().map(({ pid }) => pid));
      const flight = await fly(browser);
      const all = below().filter(({ pid, command }) => !command.includes("postgres") && (!family.has(pid) || instances([{ pid, parent: 0, command }]).length > 0));
      for (const { pid } of instances(below())) process.kill(pid, "SIGKILL");
      const endings = await Promise.all(Object.entries(flight.endings).map(async ([name, ending]) => [name, await ending] as const));
      // A recording is the service's; a stream may end in order when its session has.
      expect(endings.filter(([name, ending]) => ending === "done" && !["cdp", "replay", ...streams].includes(name))).toEqual([]);
      const ended = await until("the session has ended", async () => {
        const found = await test.shoal.browsers.get(browser.session_id, { include_deleted: true });
        return found.deleted_at === undefined ? undefined : found;
      });
      expect(ended.ended_reason).toBe("instance_lost");
      await until("nothing of it is left", () => survivors(all).length === 0);
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

/** A body that never ends, until nobody takes it any more. */
function endless(): ReadableStream<Uint8Array<ArrayBuffer>> {
  return new ReadableStream({
    async pull(controller) {
      await delay(50);
      controller.enqueue(new Uint8Array(100));
    },
  });
}
