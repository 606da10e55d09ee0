import type { Browser as Session, CreateBrowser, TelemetryEnvelope } from "@shoal/client";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { createSocket } from "node:dgram";
import { createServer } from "node:http";
import { type AddressInfo, createServer as createTcpServer } from "node:net";
import { type Browser, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { fullChromiumPlacements, placements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { addProject } from "../testing/projects.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { zipOf } from "../testing/zip.ts";

/** Reports of an extension. */
const reported: string[] = [];
const server = createServer((request, response) => {
  const { pathname, searchParams } = new URL(request.url ?? "", "http://site");
  response.setHeader("access-control-allow-origin", "*");
  if (pathname === "/report") reported.push(searchParams.get("found") ?? "");
  if (pathname === "/to") response.writeHead(302, { location: searchParams.get("url") ?? "" }).end();
  else if (pathname === "/worker.js")
    response.writeHead(200, { "content-type": "text/javascript" }).end(
      `onactivate = (event) => event.waitUntil(clients.claim());
         onmessage = ({ data, ports }) => fetch(data).then((answer) => ports[0].postMessage(answer.status), () => ports[0].postMessage("failed"));`,
    );
  else response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>${pathname}</title>`);
});
const sockets = new WebSocketServer({ server });
sockets.on("connection", (socket) => {
  socket.on("message", (text: Buffer) => {
    socket.send(`echo ${text.toString()}`);
  });
});
/** Names below `localhost` lead to 127.0.0.1 in every session. */
const at = (host: string, path = "/", scheme = "http"): string =>
  `${scheme}://${host}:${String((server.address() as AddressInfo).port)}${path}`;
const port = (): string => String((server.address() as AddressInfo).port);

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  sockets.close();
  server.closeAllConnections();
  server.close();
});

async function goto(page: Page, url: string): Promise<string> {
  return page.goto(url).then(
    async () => page.title(),
    (error: unknown) => /net::\w+/.exec(String(error))?.[0] ?? String(error),
  );
}

const fetched = (page: Page, url: string): Promise<string> =>
  page.evaluate(
    (address) =>
      fetch(address).then(
        ({ status }) => String(status),
        () => "failed",
      ),
    url,
  );

/** Opens a WebSocket in the page and keeps it as `window.sockets[name]`. */
const socketIn = (page: Page, url: string, name = "last"): Promise<string> =>
  page.evaluate(
    ([address = "", key = ""]) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(address);
        const kept = ((globalThis as { sockets?: Record<string, WebSocket> }).sockets ??= {});
        kept[key] = socket;
        socket.onmessage = ({ data }) => {
          resolve(String(data));
        };
        socket.onopen = () => {
          socket.send("hello");
        };
        socket.onclose = () => {
          resolve("closed");
        };
      }),
    [url, name],
  );

describe.each(placements)("network rules in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("of sessions and projects", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", `127.0.0.1:${port()}`]);

    async function open(body: CreateBrowser): Promise<{ id: string; session: Session; page: Page; browser: Browser }> {
      const session = await test.shoal.browsers.create({ timeout_seconds: 600, ...body });
      const browser = await chromium.connectOverCDP(session.cdp_ws_url);
      return { id: session.session_id, session, browser, page: await firstPageOf(browser) };
    }

    /** Status codes of curl in the session, also for `localhost`, which its environment excludes from the proxy. */
    async function curl(id: string, ...urls: string[]): Promise<string[]> {
      const { stdout } = await test.shoal.browsers.process.run(id, {
        command: "curl",
        args: ["-s", "--noproxy", "", "-w", "%{http_code}\n", ...urls.flatMap((url) => ["-o", "/dev/null", url])],
      });
      return stdout.trim().split("\n");
    }

    it("limits pages, workers, WebSockets, redirects and programs to the allowed hosts", async () => {
      const { browser, id, page, session } = await open({
        network: { allow: ["*.yes.localhost", "A.localhost.:" + port()], deny: ["no.yes.localhost"] },
        telemetry: { browser: { network: { enabled: true } } },
      });
      expect(session.network).toEqual({
        allow: ["*.yes.localhost", `a.localhost:${port()}`],
        deny: ["no.yes.localhost"],
      });
      const events: TelemetryEnvelope[] = [];
      const stream = test.shoal.browsers.telemetry.stream(id, { replay: "all" });
      const reading = (async () => {
        for await (const event of stream) events.push(event);
      })().catch(() => undefined);

      expect(await goto(page, at("www.yes.localhost", "/one"))).toBe("/one");
      expect(await goto(page, at("a.localhost", "/two"))).toBe("/two");
      for (const host of ["no.yes.localhost", "yes.localhost", "127.0.0.1", "[::1]", "2130706433", "NO.yes.localhost."])
        expect(await fetched(page, at(host)), host).toBe("failed");
      expect(await fetched(page, at("b.yes.localhost"))).toBe("200");
      expect(await fetched(page, at("a.localhost", `/to?url=${encodeURIComponent(at("no.yes.localhost"))}`))).toBe(
        "failed",
      );
      expect(await socketIn(page, at("b.yes.localhost", "/", "ws"))).toBe("echo hello");
      expect(await socketIn(page, at("no.yes.localhost", "/", "ws"))).toBe("closed");
      expect(
        await page.evaluate(
          async ([worker = "", ...urls]) => {
            await navigator.serviceWorker.register(worker);
            const { active } = await navigator.serviceWorker.ready;
            const ask = (url: string) =>
              new Promise((resolve) => {
                const { port1, port2 } = new MessageChannel();
                port1.onmessage = ({ data }) => {
                  resolve(data);
                };
                active?.postMessage(url, [port2]);
              });
            return Promise.all(urls.map(ask));
          },
          ["/worker.js", at("b.yes.localhost"), at("no.yes.localhost")],
        ),
      ).toEqual([200, "failed"]);
      // One connection of curl carries all its requests.
      expect(
        await curl(id, at("b.yes.localhost"), at("no.yes.localhost"), at("b.yes.localhost"), at("other.localhost")),
      ).toEqual(["200", "403", "200", "403"]);

      expect(await goto(page, at("no.yes.localhost"))).toMatch(/^net::/);
      await expect
        .poll(() => page.evaluate("document.body?.innerText"))
        .toContain("the rule no.yes.localhost in network.deny of this session refuses it");
      await eventuallyPasses(() => {
        const refused = events.flatMap(({ event }) => (event.type === "network_refused" ? [event.data] : []));
        expect(refused).toContainEqual(
          expect.objectContaining({
            ...{ host: "no.yes.localhost", port: Number(port()) },
            ...{ rules_of: "session", list: "deny", rule: "no.yes.localhost" },
          }),
        );
        expect(refused).toContainEqual({
          ...{ host: "other.localhost", port: Number(port()) },
          ...{ rules_of: "session", list: "allow", count: 1 },
        });
      });
      await browser.close();
      await test.shoal.browsers.delete(id);
      await reading;
    });

    it("applies changed rules to open connections", async () => {
      const { browser, id, page } = await open({});
      await goto(page, at("a.localhost"));
      expect(await socketIn(page, at("kept.localhost", "/", "ws"), "kept")).toBe("echo hello");
      expect(await socketIn(page, at("cut.localhost", "/", "ws"), "cut")).toBe("echo hello");
      const changed = await test.shoal.browsers.update(id, { network: { deny: ["cut.localhost"] } });
      expect(changed.network).toEqual({ deny: ["cut.localhost"] });
      await page.waitForFunction("sockets.cut.readyState === 3");
      expect(await page.evaluate("sockets.kept.readyState")).toBe(1);
      expect(await socketIn(page, at("cut.localhost", "/", "ws"))).toBe("closed");
      await test.shoal.browsers.update(id, { network: { deny: null } });
      expect(await socketIn(page, at("cut.localhost", "/", "ws"))).toBe("echo hello");
      expect((await test.shoal.browsers.get(id)).network).toBeUndefined();
      await test.shoal.browsers.update(id, { network: { allow: [] } });
      await page.waitForFunction("sockets.kept.readyState === 3");
      expect(
        await refusalOf(test.shoal.browsers.update(id, { network: { deny: ["http://a.localhost"] } })),
      ).toMatchObject({
        status: 400,
        message: expect.stringContaining('body.network.deny[0]: "http://a.localhost" is not a host') as unknown,
      });
      await browser.close();
      await test.shoal.browsers.delete(id);
    });

    it("opens no connection for WebRTC past the rules", async () => {
      const udp = createSocket("udp4");
      let packets = 0;
      udp.on("message", () => packets++);
      await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
      let connections = 0;
      const tcp = createTcpServer((socket) => {
        connections++;
        socket.destroy();
      });
      await new Promise<void>((resolve) => tcp.listen(0, "127.0.0.1", resolve));
      const turn = (tcp.address() as AddressInfo).port;
      const { browser, id, page } = await open({ network: { allow: ["a.localhost"] } });
      await goto(page, at("a.localhost"));
      const candidates = await page.evaluate(
        async ([stun = "", relay = ""]) => {
          const found: string[] = [];
          const peer = new RTCPeerConnection({
            iceServers: [{ urls: stun }, { urls: relay, username: "u", credential: "p" }],
          });
          const gathered = new Promise<void>((resolve) => {
            peer.onicecandidate = ({ candidate }) => {
              if (candidate === null) resolve();
              else found.push(candidate.candidate);
            };
          });
          peer.createDataChannel("data");
          await peer.setLocalDescription(await peer.createOffer());
          // A relay that cannot be reached may delay the end for minutes. Requests to servers are sent at once.
          const gatheringMs = 5000;
          await Promise.race([gathered, new Promise((resolve) => setTimeout(resolve, gatheringMs))]);
          return found;
        },
        [`stun:127.0.0.1:${String(udp.address().port)}`, `turn:127.0.0.1:${String(turn)}?transport=tcp`],
      );
      expect(candidates.filter((candidate) => / udp /i.test(candidate) && !candidate.includes(" typ host "))).toEqual(
        [],
      );
      expect([packets, connections]).toEqual([0, 0]);
      await browser.close();
      await test.shoal.browsers.delete(id);
      udp.close();
      tcp.close();
    });

    // In the placement process, programs share the network of the machine.
    it.skipIf(placement === "process")(
      "lets no program ask a DNS server, which could carry data past the rules",
      async () => {
        const udp = createSocket("udp4");
        let packets = 0;
        udp.on("message", () => packets++);
        await new Promise<void>((resolve) => udp.bind(0, "127.0.0.1", resolve));
        const { browser, id, page } = await open({ network: { allow: ["a.localhost"] } });
        const script = `echo query > /dev/udp/127.0.0.1/${String(udp.address().port)}; getent ahosts secret.example.com; echo $?`;
        const { stdout } = await test.shoal.browsers.process.run(id, { command: "bash", args: ["-c", script] });
        // 2: the name was not found.
        expect(stdout.trim()).toBe("2");
        expect(await goto(page, "http://secret.example.com/")).toMatch(/Blocked|net::/);
        expect(packets).toBe(0);
        await browser.close();
        await test.shoal.browsers.delete(id);
        udp.close();
      },
    );

    it("keeps sessions within the rules of their project, at once and for running sessions", async () => {
      const [ruled, other] = [
        await addProject(test, `ruled ${placement}`),
        await addProject(test, `other ${placement}`),
      ];
      await test.shoal.projects.update(ruled.id, { network: { deny: ["b.localhost"] } });
      const start = async ({ shoal }: typeof ruled) => {
        const session = await shoal.browsers.create({ timeout_seconds: 600, network: { allow: ["*"] } });
        const browser = await chromium.connectOverCDP(session.cdp_ws_url);
        return { id: session.session_id, browser, page: await firstPageOf(browser) };
      };
      const [inside, outside] = [await start(ruled), await start(other)];
      expect(await goto(inside.page, at("a.localhost", "/a"))).toBe("/a");
      expect(await goto(outside.page, at("b.localhost", "/b"))).toBe("/b");
      expect(await fetched(inside.page, at("b.localhost"))).toBe("failed");
      expect(await socketIn(inside.page, at("c.localhost", "/", "ws"), "c")).toBe("echo hello");
      expect(await socketIn(outside.page, at("c.localhost", "/", "ws"), "c")).toBe("echo hello");
      await test.shoal.projects.update(ruled.id, { network: { allow: ["a.localhost"], deny: null } });
      await inside.page.waitForFunction("sockets.c.readyState === 3");
      expect(await outside.page.evaluate("sockets.c.readyState")).toBe(1);
      expect(await refusalOf(ruled.shoal.projects.update(ruled.id, { network: { allow: null } }))).toMatchObject({
        status: 403,
      });
      for (const [project, { browser, id }] of [
        [ruled, inside],
        [other, outside],
      ] as const) {
        await browser.close();
        await project.shoal.browsers.delete(id);
      }
    });
  });
});

describe.each(fullChromiumPlacements)("network rules of extensions in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with access to all sites", () => {
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", `127.0.0.1:${port()}`]);

    it("apply to requests of their service workers", async () => {
      const manifest = {
        manifest_version: 3,
        name: "sender",
        version: "1.0",
        host_permissions: ["<all_urls>"],
        background: { service_worker: "background.js" },
      };
      const background = `Promise.all(${JSON.stringify([at("no.localhost"), at("yes.localhost")])}.map((url) =>
        fetch(url).then(({ status }) => status, () => "failed"))).then((found) => fetch(${JSON.stringify(at("yes.localhost", "/report?found="))} + found))`;
      const archive = await zipOf([
        { name: "manifest.json", content: JSON.stringify(manifest) },
        { name: "background.js", content: background },
      ]);
      const name = `sender-${placement}`;
      await test.shoal.extensions.upload({ file: new Blob([archive], { type: "application/zip" }), name });
      reported.splice(0);
      const session = await test.shoal.browsers.create({
        extensions: [{ name }],
        network: { allow: ["yes.localhost"] },
        timeout_seconds: 600,
      });
      await eventually("a report of the extension", () => reported.length > 0);
      expect(reported[0]).toBe("failed,200");
      await test.shoal.browsers.delete(session.session_id);
    });
  });
});
