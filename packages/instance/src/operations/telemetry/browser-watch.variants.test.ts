import { eventually, eventuallyPasses } from "@shoal/testkit";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { CdpError, type CdpConnection } from "../../browser/cdp/cdp-connection.ts";
import { SessionDownloads } from "../../browser/downloads/session-downloads.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { TypedSecrets } from "../../secrets/typed-secrets.ts";
import { Telemetry } from "./telemetry.ts";
import { followTelemetry, type FollowedTelemetry } from "./testing/follow.ts";

let site: Server;
let port: number;
const rounds = new Map<string, number>();
let isLast = false;

const scripts: Readonly<Record<string, string>> = {
  "/shared.js": `console.log("first of the shared worker"); onconnect = ({ ports: [port] }) => { console.log("second of the shared worker"); port.postMessage(1); };`,
  "/service.js": `console.log("first of the service worker"); oninstall = () => console.log("second of the service worker");`,
};
const pages: Readonly<Record<string, string>> = {
  "/workers": `<title>workers</title><script>
    new SharedWorker("/shared.js").port.onmessage = () => navigator.serviceWorker.register("/service.js");
  </script>`,
  "/shifting": `<title>shifting</title><body style="margin:0"><div id=late></div><p style="height:200px;background:red">moves</p><script>
    requestAnimationFrame(() => setTimeout(() => { late.style.height = "150px"; }, 100));
  </script>`,
};

function round(loop: string, number: number): string {
  rounds.set(loop, number);
  const host = number % 2 === 0 ? "localhost" : "127.0.0.1";
  const next = isLast
    ? ""
    : `setTimeout(() => location.replace("http://${host}:${String(port)}/round?${loop}-${String(number + 1)}"));`;
  return `<title>round</title><script>console.log("${loop}-${String(number)}"); ${next}</script>`;
}

beforeAll(async () => {
  site = createServer((request, response) => {
    const { pathname, search } = new URL(request.url ?? "/", "http://site");
    const [loop = "", number = "0"] = search.slice(1).split("-");
    if (pathname === "/round")
      response
        .writeHead(200, { "content-type": "text/html", "cache-control": "no-store" })
        .end(round(loop, Number(number)));
    else if (scripts[pathname] !== undefined)
      response.writeHead(200, { "content-type": "text/javascript" }).end(scripts[pathname]);
    else response.writeHead(200, { "content-type": "text/html" }).end(pages[pathname] ?? "");
  });
  await new Promise<void>((resolve) => site.listen(0, resolve));
  port = (site.address() as AddressInfo).port;
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

async function select(instance: RunningInstance, ...categories: string[]): Promise<void> {
  expect((await instance.call("POST", "/_instance/telemetry", JSON.stringify({ categories }))).status).toBe(200);
}

function toldRounds(told: FollowedTelemetry, type: string, loop: string): number[] {
  return told.of(type).flatMap(({ data }) => {
    const number = new RegExp(`\\b${loop}-(\\d+)$`).exec(String(type === "console_log" ? data?.text : data?.url))?.[1];
    return number === undefined ? [] : [Number(number)];
  });
}

describeChromium("watching a browser", (chromium) => {
  it("records shared and service workers from their first line on", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["console"], start_url: `http://localhost:${String(port)}/workers` });
    const told = followTelemetry(instance);
    await told.wait("console_log", { text: "second of the service worker" });
    const lines = (type: string) =>
      told.of("console_log").flatMap(({ data }) => (data?.target_type === type ? [data.text] : []));
    expect(lines("shared_worker")).toEqual(["first of the shared worker", "second of the shared worker"]);
    expect(lines("service_worker")).toEqual(["first of the service worker", "second of the service worker"]);
  });

  it("records layout shifts", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"], start_url: `http://localhost:${String(port)}/shifting` });
    const told = followTelemetry(instance);
    const { data } = await told.wait("page_layout_shift", { url: /shifting$/ });
    expect(data).toMatchObject({
      duration: 0,
      target_type: "page",
      time: expect.any(Number) as unknown,
      source_frame_id: data?.frame_id,
      layout_shift_details: { value: expect.any(Number) as unknown, had_recent_input: false },
    });
    expect((data?.layout_shift_details as { value: number }).value).toBeGreaterThan(0);
  });

  it("records a navigating page without gaps, from its first recorded event on", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({});
    const told = followTelemetry(instance);
    const client = cdpClient(await instance.connect());
    for (const attempt of ["a", "b"]) {
      const loops = [`${attempt}1`, `${attempt}2`];
      const reached = (loop: string) => rounds.get(loop) ?? 0;
      const later = async (by: number) => {
        const marks = loops.map((loop) => [loop, reached(loop) + by] as const);
        await eventually(() => marks.every(([loop, mark]) => reached(loop) >= mark));
      };
      isLast = false;
      for (const loop of loops)
        await client.send("Target.createTarget", { url: `http://localhost:${String(port)}/round?${loop}-1` });
      await later(3);
      await select(instance, "console", "network", "page");
      const marks = new Map(loops.map((loop) => [loop, reached(loop)]));
      await later(10);
      isLast = true;
      for (const loop of loops) {
        for (const type of ["console_log", "network_request", "page_navigation"]) {
          await eventuallyPasses(() => {
            expect(toldRounds(told, type, loop).at(-1), `${type} of ${loop}`).toBe(reached(loop));
          });
          const numbers = toldRounds(told, type, loop);
          const first = numbers[0] ?? 0;
          expect(numbers, `${type} of ${loop}`).toEqual(numbers.map((_, index) => first + index));
          // A round in progress at the answer may be recorded in part; later rounds are complete.
          expect(first, `${type} of ${loop}`).toBeLessThanOrEqual((marks.get(loop) ?? 0) + 1);
        }
      }
      await select(instance);
    }
    expect(told.envelopes.map(({ seq }) => seq)).toEqual(told.envelopes.map((_, index) => index + 1));
  });
});

it("reports that a browser rejects the watch, and retries with the next selection", async () => {
  let refuses = true;
  const sent: string[] = [];
  const connection = {
    send(method: string) {
      sent.push(method);
      if (refuses && method === "Target.setAutoAttach") return Promise.reject(new CdpError(`${method}: Not allowed`));
      return Promise.resolve({ sessionId: "root" });
    },
    on: () => () => undefined,
    closed: new Promise<void>(() => undefined),
  } as unknown as CdpConnection;
  const telemetry = new Telemetry({
    hidesContent: () => false,
    secrets: new TypedSecrets(),
    root: "/",
    failureOf: () => Promise.resolve(undefined),
    onRefusal: () => () => undefined,
    browser: {
      downloads: new SessionDownloads({ root: "/", home: "/" }),
      cdp: () => Promise.resolve(connection),
      onBrowser(listener) {
        listener(connection);
        return () => undefined;
      },
    },
  });
  // The browser is set up when it becomes ready, before any category is selected.
  await setImmediate();
  await telemetry.select(["console"]);
  refuses = false;
  await telemetry.select(["console"]);
  const stream = telemetry.stream("all", undefined)[Symbol.asyncIterator]();
  expect((await stream.next()).value).toMatchObject({
    data: {
      seq: 1,
      event: { type: "monitor_init_failed", category: "monitor", data: { step: "Target.setAutoAttach" } },
    },
  });
  expect(sent).toEqual([
    "Target.attachToBrowserTarget",
    "Target.setDiscoverTargets",
    "Target.setAutoAttach",
    "Target.detachFromTarget",
    "Target.attachToBrowserTarget",
    "Target.setDiscoverTargets",
    "Target.setAutoAttach",
  ]);
  await telemetry.close();
  expect((await stream.next()).done).toBe(true);
});
