import { startService } from "@shoal/cli/service";
import { Shoal } from "@shoal/client";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startRelays } from "../measuring/bare-relay.ts";
import { type Figure, percentile } from "../measuring/figures.ts";
import { cpuMs, descendants } from "../measuring/processes.ts";
import { interleaved } from "../measuring/rounds.ts";

const largeCharacters = 2_000_000;

/** A minimal CDP client, so that the route dominates the measurement. */
interface Cdp {
  send(method: string, params?: object): Promise<void>;
  close(): Promise<void>;
}

async function connect(address: string): Promise<Cdp> {
  const socket = new WebSocket(address);
  let answered: () => void = () => undefined;
  let sessionId: string | undefined;
  let targetId: string | undefined;
  socket.addEventListener("message", ({ data }: MessageEvent<string>) => {
    // Count large messages only; parsing them would dominate.
    if (data.length < 10_000) {
      const { result } = JSON.parse(data) as { result?: { targetId?: string; sessionId?: string } };
      targetId ??= result?.targetId;
      sessionId ??= result?.sessionId;
      if (result === undefined) return;
    }
    answered();
  });
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  let id = 0;
  const send = (method: string, params: object = {}) =>
    new Promise<void>((resolve) => {
      answered = resolve;
      socket.send(JSON.stringify({ id: ++id, method, params, ...(sessionId !== undefined && { sessionId }) }));
    });
  await send("Target.createTarget", { url: "about:blank" });
  await send("Target.attachToTarget", { targetId, flatten: true });
  return {
    send,
    async close() {
      await send("Page.close");
      socket.close();
    },
  };
}

/** Chromium's own address: a session of the process placement is on this machine's network. */
function ownAddress(dataDir: string): string {
  const sessions = join(dataDir, "sessions");
  const file = readdirSync(sessions, { recursive: true, encoding: "utf8" }).find((path) =>
    path.endsWith("DevToolsActivePort"),
  );
  if (file === undefined) throw new Error("The session's Chromium has not written its port.");
  const [port = "", path = ""] = readFileSync(join(sessions, file), "utf8").split("\n");
  return `ws://127.0.0.1:${port}${path}`;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function timesOf(count: number, work: () => Promise<unknown>): Promise<number[]> {
  const times: number[] = [];
  for (let index = 0; index < count; index++) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return times;
}

/** The service and the session's instance, which both forward each message. */
function forwarders(servicePid: number): number[] {
  const instances = descendants(servicePid).filter(({ command }) => /\/node .*\/start\.cjs /.test(command));
  if (instances.length !== 1) throw new Error(`The service has ${String(instances.length)} instances, not one.`);
  return [servicePid, ...instances.map(({ pid }) => pid)];
}

/** Measures CDP through `cdp_ws_url` against Chromium's own port, Playwright code, and requests through the browser. */
export async function measureAutomation(rounds: number): Promise<Figure[]> {
  const dataDir = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const site = createServer((_request, response) => response.setHeader("content-type", "text/plain").end("answer"));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}/`;
  const service = await startService(dataDir, [
    "--warm",
    "0",
    "--log-level",
    "warn",
    "--placement",
    "process",
    "--allow-private-hosts",
    "127.0.0.1",
  ]);
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const { session_id: id, cdp_ws_url: address } = await shoal.browsers.create();
    const own = new URL(ownAddress(dataDir));
    const relayed = new URL(own);
    relayed.port = String(await freePort());
    const relays = await startRelays(Number(relayed.port), Number(own.port), join(dataDir, "relay"));
    const [ours, peer, bare] = [await connect(address), await connect(own.href), await connect(relayed.href)];
    const small = async (cdp: Cdp) => timesOf(200, () => cdp.send("Runtime.evaluate", { expression: "1" }));
    const large = async (cdp: Cdp) =>
      timesOf(5, () => cdp.send("Runtime.evaluate", { expression: `"x".repeat(${largeCharacters})` }));
    const used = { ours: 0, bare: 0 };
    const counted = async (side: keyof typeof used, pids: readonly number[], work: () => Promise<unknown>) => {
      const before = pids.reduce((sum, pid) => sum + cpuMs(pid), 0);
      await work();
      used[side] += pids.reduce((sum, pid) => sum + cpuMs(pid), 0) - before;
    };
    const forwarding = forwarders(service.pid);
    const trips = await interleaved(rounds, {
      ours: () => counted("ours", forwarding, () => small(ours)),
      peer: () => small(peer),
      bare: () => counted("bare", relays.pids, () => small(bare)),
    });
    const messages = await interleaved(rounds, { ours: () => large(ours), peer: () => large(peer) });
    // Playwright inspects every page when it connects.
    await Promise.all([ours.close(), peer.close(), bare.close()]);
    await relays.close();

    const execute = () => shoal.browsers.playwright.execute(id, { code: "return 1" });
    const [cold = Number.NaN] = await timesOf(1, execute);
    const warm = await timesOf(rounds * 3, execute);
    const curl = () => shoal.browsers.curl(id, { url });
    await curl();
    const requests = await timesOf(rounds * 5, curl);
    const plain = await timesOf(rounds * 5, async () => (await fetch(url)).text());
    const rate = (count: number, { wallMs }: { readonly wallMs: number }) => (count * 1000) / wallMs;
    return [
      {
        name: "CDP: round trips through cdp_ws_url",
        unit: "1/s",
        ours: rate(200, trips.ours),
        peer: rate(200, trips.peer),
        peerName: "Chromium's own port",
        target: ">= 0.9",
      },
      {
        name: "CDP: round trips through cdp_ws_url",
        unit: "1/s",
        ours: rate(200, trips.ours),
        peer: rate(200, trips.bare),
        peerName: "two programs that only copy",
      },
      {
        name: "CDP: CPU of service and instance for a round trip",
        unit: "µs",
        ours: (used.ours * 1000) / (rounds * 200),
        peer: (used.bare * 1000) / (rounds * 200),
        peerName: "two programs that only copy",
      },
      {
        name: "CDP: 2 MB messages through cdp_ws_url",
        unit: "1/s",
        ours: rate(5, messages.ours),
        peer: rate(5, messages.peer),
        peerName: "Chromium's own port",
        target: ">= 0.9",
      },
      {
        name: "Playwright code: return 1, warm, p50",
        unit: "ms",
        ours: percentile(warm, 0.5),
        peer: 30,
        peerName: "the target",
        target: "<= 1",
      },
      { name: "Playwright code: return 1, first call", unit: "ms", ours: cold },
      {
        name: "browsers.curl, p50",
        unit: "ms",
        ours: percentile(requests, 0.5),
        peer: percentile(plain, 0.5),
        peerName: "fetch without a browser",
      },
    ];
  } finally {
    await service.stop();
    site.close();
    rmSync(dataDir, { recursive: true, force: true });
  }
}
