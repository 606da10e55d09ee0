import { Shoal, type BrowserSession } from "@shoal/client";
import { type Instance, type Placement, withAcquire } from "@shoal/placement";
import { loadConfig, type RunningServer, startServer } from "@shoal/server";
import { eventually } from "@shoal/testkit";
import { randomInt } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import WebSocket from "ws";
import { certificate } from "../testing/certificate.ts";
import { missingFor } from "../testing/components.ts";
import { type DebianProxy, debianProxies, programOf, startDebianProxy } from "../testing/debian-proxy.ts";
import { documentedProxies } from "../testing/documented-proxies.ts";
import { allProcesses } from "../testing/processes.ts";

/** The answer to upgrades while the instance is hostile. */
const hostileAnswer =
  "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: keep-alive\r\n\r\nok";

let hostile: Server;
let isHostile = false;
/** All bytes that the hostile instance received. */
let received = "";
const sockets = new Set<Socket>();

async function connectHostile(): Promise<Socket> {
  const socket = connect((hostile.address() as AddressInfo).port, "127.0.0.1");
  await once(socket, "connect");
  return socket;
}

/** Simulates an instance taken over by code in the box: it answers upgrades itself. */
function aroundPlacement(placement: Placement): Placement {
  const around = (instance: Instance): Instance =>
    new Proxy(instance, {
      get(target, name) {
        if (name === "connect") return () => (isHostile ? connectHostile() : target.connect());
        const value: unknown = Reflect.get(target, name, target);
        return typeof value === "function" ? (value.bind(target) as unknown) : value;
      },
    });
  return withAcquire(placement, async (...given) => around(await placement.acquire(...given)));
}

const missing = missingFor("process");

describe.skipIf(missing)(
  `behind a reverse proxy of Debian${missing === undefined ? "" : ` (skipped, ${missing})`}`,
  () => {
    let folder: string;
    let server: RunningServer;
    let id: string;
    const usual = getCACertificates("default");
    beforeAll(async () => {
      setDefaultCACertificates([...usual, certificate]);
      hostile = createServer((socket) => {
        sockets.add(socket);
        socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
        socket.on("data", (chunk: Buffer) => {
          received += chunk.toString("latin1");
          socket.write(hostileAnswer);
        });
      }).listen(0, "127.0.0.1");
      await once(hostile, "listening");
      folder = mkdtempSync(join(tmpdir(), "shoal-debian-"));
      const flags = {
        "data-dir": folder,
        port: "0",
        placement: "process",
        warm: "0",
        "log-level": "fatal",
        "max-event-loop-delay-ms": "0",
        "trusted-proxies": "127.0.0.1",
      };
      server = await startServer(loadConfig({ flags, env: {} }), { aroundPlacement });
      const session = await new Shoal({ baseUrl: server.baseUrl, apiKey: server.apiKey ?? "" }).browsers.create({
        timeout_seconds: 600,
      });
      id = session.session_id;
    });
    afterAll(async () => {
      await server.close();
      for (const socket of sockets) socket.destroy();
      hostile.close();
      setDefaultCACertificates(usual);
      rmSync(folder, { recursive: true, force: true });
    });

    const kinds = [...debianProxies, ...documentedProxies].map((kind) => ({ ...kind, title: kind.file ?? kind.name }));
    describe.each(kinds)("$title", (kind) => {
      const isMissing = programOf(kind) === undefined && process.env.SHOAL_REQUIRE_ALL !== "1";
      const note = isMissing ? ` (skipped, not installed: apt install ${kind.name})` : "";
      let proxy: DebianProxy;
      let shoal: Shoal;
      beforeAll(async () => {
        if (isMissing) return;
        proxy = await startDebianProxy(kind, server.baseUrl);
        shoal = new Shoal({ baseUrl: proxy.baseUrl, apiKey: server.apiKey ?? "" });
      });
      afterAll(async () => {
        if (!isMissing) await proxy[Symbol.asyncDispose]();
      });

      it.skipIf(isMissing)(`carries CDP, a terminal and a live view${note}`, async () => {
        const session: Pick<BrowserSession, "cdp_ws_url" | "browser_live_view_url"> = await shoal.browsers.get(id);
        expect(session.cdp_ws_url).toContain(new URL(proxy.baseUrl).host);
        const client = await chromium.connectOverCDP(session.cdp_ws_url);
        const page = await client.contexts()[0]?.newPage();
        await page?.setContent("<title>through the proxy</title>");
        expect(await page?.title()).toBe("through the proxy");
        await client.close();

        const { process_id } = await shoal.browsers.process.spawn(id, { command: "/bin/cat", allocate_tty: true });
        const terminal = new WebSocket(session.cdp_ws_url.replace("/cdp?", `/process/${process_id}/attach?`));
        await once(terminal, "open");
        let shown = "";
        terminal.on("message", (data: Buffer) => (shown += data.toString()));
        terminal.send(Buffer.from("typed\n"));
        await expect.poll(() => shown).toContain("typed");
        terminal.terminate();

        const address = session.browser_live_view_url ?? "";
        expect((await fetch(address)).status).toBe(200);
        const viewer = new WebSocket(`${address.replace("http", "ws")}/socket?viewer=a`);
        await once(viewer, "message");
        viewer.terminate();
      });

      it.skipIf(isMissing)(`ends a command when its caller disconnects${note}`, async () => {
        const gone = new AbortController();
        const seconds = String(randomInt(1_000_000, 10_000_000));
        const runs = () => allProcesses().some(({ command }) => command.includes(`sleep ${seconds}`));
        // Not by the client: its Idempotency-Key lets the command continue for 5 seconds.
        const asked = fetch(`${proxy.baseUrl}/browsers/${id}/process/exec`, {
          method: "POST",
          body: JSON.stringify({ command: "sleep", args: [seconds] }),
          headers: { authorization: `Bearer ${server.apiKey ?? ""}`, "content-type": "application/json" },
          signal: gone.signal,
        }).catch(() => "disconnected");
        await eventually("it runs", runs);
        gone.abort();
        expect(await asked).toBe("disconnected");
        await eventually("it has ended", () => !runs());
      });

      it.skipIf(isMissing)(
        `passes no request of another client to a session that refuses its upgrade${note}`,
        async () => {
          isHostile = true;
          try {
            const { cdp_ws_url: address } = await shoal.browsers.get(id);
            for (let round = 0; round < 3; round += 1) {
              const refused = new WebSocket(address);
              const [failure] = (await once(refused, "error")) as [Error];
              expect(failure.message).toContain("502");
            }
            const answers = await Promise.all(Array.from({ length: 20 }, () => shoal.projects.list()));
            expect(answers.every(({ items }) => items.length > 0)).toBe(true);
            expect(received).toMatch(/^GET \/cdp HTTP/);
            expect(received).not.toContain(server.apiKey);
            expect(received.match(/ HTTP\/1\.1\r\n/g)?.length).toBe(3);
          } finally {
            isHostile = false;
            received = "";
          }
        },
      );
    });
  },
);
