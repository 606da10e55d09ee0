import type { CreateBrowser, TelemetryEnvelope } from "@shoal/client";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { createServer, type IncomingHttpHeaders, request as httpRequest, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { WebSocketServer } from "ws";
import { placements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";

const asked: { host: string; path: string }[] = [];
const site = createServer((request, response) => {
  asked.push({ host: request.headers.host ?? "", path: request.url ?? "" });
  response.setHeader("access-control-allow-origin", "*");
  const { pathname, searchParams } = new URL(request.url ?? "", "http://site");
  if (pathname === "/to") response.writeHead(302, { location: searchParams.get("url") ?? "" }).end();
  else if (pathname === "/file") response.writeHead(200, { "content-disposition": "attachment; filename=f" }).end("f");
  else if (pathname === "/worker.js")
    response
      .writeHead(200, { "content-type": "text/javascript" })
      .end("onmessage = ({ data }) => fetch(data).then((a) => postMessage(a.status), () => postMessage('failed'));");
  else response.writeHead(200, { "content-type": "text/html" }).end(`<!doctype html><title>${pathname}</title>`);
});
const sockets = new WebSocketServer({ server: site });
sockets.on("connection", (socket) => {
  socket.send("hello");
});
const proxied: { proxy: string; url: string; headers: IncomingHttpHeaders }[] = [];
/** Of each placement, because its test closes one. */
const proxiesOf = new Map(placements.map(({ placement }) => [placement, ["one", "two"].map(startProxy)]));
const servers = [site, ...[...proxiesOf.values()].flat()];
const at = (host: string, path = "/", scheme = "http"): string => `${scheme}://${host}:${port(site)}${path}`;

function port(server: Server): string {
  return String((server.address() as AddressInfo).port);
}

function startProxy(proxy: string): Server {
  const server = createServer((request, response) => {
    proxied.push({ proxy, url: request.url ?? "", headers: request.headers });
    const { hostname, pathname, search } = new URL(request.url ?? "");
    httpRequest({ port: port(site), path: pathname + search, headers: { host: hostname } }, (answer) => {
      response.writeHead(answer.statusCode ?? 0, answer.headers);
      answer.pipe(response);
    }).end();
  });
  server.on("connect", (request, socket) => {
    proxied.push({ proxy, url: request.url ?? "", headers: request.headers });
    const target = connect(Number(port(site)), "127.0.0.1", () => {
      socket.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(socket).pipe(target);
    });
  });
  return server;
}

beforeAll(async () => {
  for (const server of servers) await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterAll(() => {
  sockets.close();
  for (const server of servers) {
    server.closeAllConnections();
    server.close();
  }
});

const fetched = (page: Page, url: string): Promise<string> =>
  page.evaluate(
    (address) =>
      fetch(address).then(
        ({ status }) => String(status),
        () => "failed",
      ),
    url,
  );

const socketIn = (page: Page, url: string, name: string): Promise<string> =>
  page.evaluate(
    ([address = "", key = ""]) =>
      new Promise<string>((resolve) => {
        const socket = new WebSocket(address);
        const kept = ((globalThis as { sockets?: Record<string, WebSocket> }).sockets ??= {});
        kept[key] = socket;
        socket.onmessage = ({ data }) => {
          resolve(String(data));
        };
        socket.onclose = () => {
          resolve("closed");
        };
      }),
    [url, name],
  );

describe.each(placements)("allowed hosts in the placement $title", ({ placement, skip }) => {
  const proxies = proxiesOf.get(placement) ?? [];
  const test = useService(() => [
    "--placement",
    placement,
    "--allow-private-hosts",
    // A name behind a proxy must lead to allowed addresses only, and localhost has two.
    [`[::1]:${port(site)}`, ...[site, ...proxies].map((server) => `127.0.0.1:${port(server)}`)].join(","),
  ]);

  async function open(body: CreateBrowser): Promise<{ id: string; page: Page; close: () => Promise<void> }> {
    const session = await test.shoal.browsers.create({ timeout_seconds: 600, ...body });
    const browser = await chromium.connectOverCDP(session.cdp_ws_url);
    const close = async () => {
      await browser.close();
      await test.shoal.browsers.delete(session.session_id);
    };
    return { id: session.session_id, page: await firstPageOf(browser), close };
  }

  async function program(id: string, script: string): Promise<string> {
    const { stdout } = await test.shoal.browsers.process.run(id, { command: "bash", args: ["-c", script] });
    return stdout.trim();
  }

  it.skipIf(skip || placement !== "process")("are refused where programs can bypass the gateway", async () => {
    expect(await refusalOf(test.shoal.browsers.create({ network: { allowed_hosts: ["a.example"] } }))).toMatchObject({
      status: 400,
      message: expect.stringMatching(/allowed_hosts: needs sessions in a sandbox/) as string,
    });
  });

  describe.skipIf(skip || placement === "process")("with isolation", () => {
    it("limit the first request, pages, workers, sockets, downloads, curl and programs", async () => {
      asked.splice(0);
      const { close, id, page } = await open({
        network: { allowed_hosts: ["*.yes.localhost", "a.localhost"] },
        start_url: at("a.localhost", "/start"),
        telemetry: { browser: { network: { enabled: true } } },
      });
      const events: TelemetryEnvelope[] = [];
      const reading = (async () => {
        for await (const event of test.shoal.browsers.telemetry.stream(id, { replay: "all" })) events.push(event);
      })().catch(() => undefined);
      await page.waitForURL("**/start");
      const answer = await page.goto(at("no.localhost"));
      expect([answer?.status(), answer?.headers()["x-kernel-proxy-error"]]).toEqual([403, "network_policy_denied"]);
      expect(await page.evaluate("document.body.innerText")).toContain("Pages may not reach no.localhost");
      await page.goto(at("a.localhost", "/one"));
      for (const host of [
        "no.localhost",
        "yes.localhost",
        "127.0.0.1",
        "[::ffff:7f00:1]",
        "2130706433",
        "NO.localhost.",
      ])
        expect(await fetched(page, at(host)), host).toBe("failed");
      expect(await fetched(page, at("b.c.yes.localhost"))).toBe("200");
      expect(await fetched(page, at("A.localhost."))).toBe("200");
      expect(await fetched(page, at("a.localhost", `/to?url=${encodeURIComponent(at("no.localhost"))}`))).toBe(
        "failed",
      );
      expect(await fetched(page, "https://no.localhost/")).toBe("failed");
      expect(await socketIn(page, at("b.yes.localhost", "/", "ws"), "yes")).toBe("hello");
      expect(await socketIn(page, at("no.localhost", "/", "ws"), "no")).toBe("closed");
      const worker = await page.evaluate(
        ([script = "", url = ""]) =>
          new Promise((resolve) => {
            const made = new Worker(script);
            made.onmessage = ({ data }) => {
              resolve(data);
            };
            made.postMessage(url);
          }),
        ["/worker.js", at("no.localhost")],
      );
      expect(worker).toBe("failed");
      const frame = await page.evaluate(
        (url) =>
          new Promise((resolve) => {
            const made = document.createElement("iframe");
            made.src = url;
            made.onload = () => {
              resolve(made.contentWindow?.length);
            };
            document.body.append(made);
          }),
        at("no.localhost", "/frame"),
      );
      expect(frame).toBe(0);
      await page.evaluate(
        (url) => {
          const link = document.createElement("a");
          link.href = url;
          link.download = "f";
          document.body.append(link);
          link.click();
        },
        at("no.localhost", "/file"),
      );
      const curled = await test.shoal.browsers.curl(id, { url: at("no.localhost") });
      const named = Object.entries(curled.headers).find(([name]) => name.toLowerCase() === "x-kernel-proxy-error");
      expect([curled.status, named?.[1]]).toEqual([403, ["network_policy_denied"]]);
      const curl = (target: string) =>
        `curl -s --noproxy '' -o /dev/null -w '%{http_code} %{http_connect} ' ${target};`;
      expect(
        await program(
          id,
          [
            at("a.localhost"),
            at("no.localhost"),
            `-H 'Host: no.localhost' ${at("a.localhost", "/host")}`,
            `-p ${at("no.localhost")}`,
            `-p -H 'Host: no.localhost' ${at("a.localhost", "/fronted")}`,
            `-k --connect-to no.localhost:443:a.localhost:${port(site)} https://no.localhost/`,
            `--proxy '' ${at("127.0.0.1")}`,
          ]
            .map(curl)
            .join(" "),
        ),
      ).toBe("200 000 403 000 200 000 000 403 000 200 000 200 000 000");
      expect(asked.filter(({ host }) => host.startsWith("no.") || host.startsWith("127."))).toEqual([]);
      expect(asked.find(({ path }) => path === "/host")?.host).toBe(`a.localhost:${port(site)}`);
      const codes = await eventually("telemetry of refusals", () => {
        const found = events.flatMap(({ event }) => (event.type === "proxy_error" ? [event.data] : []));
        const denied = found.filter((data) => data?.code === "network_policy_denied" && data.status === 403);
        return ["http://no.localhost", "https://no.localhost/"].every((url) =>
          denied.some((data) => data?.url?.startsWith(url) === true),
        );
      });
      expect(codes).toBe(true);
      await eventuallyPasses(() => {
        expect(events.flatMap(({ event }) => (event.type === "network_refused" ? [event.data] : []))).toContainEqual(
          expect.objectContaining({ host: "no.localhost", rules_of: "session", list: "allowed_hosts" }),
        );
      });
      await close();
      await reading;
    });

    it("change at once, close connections to removed hosts, and keep the others", async () => {
      const { close, id, page } = await open({ network: { allowed_hosts: ["a.localhost", "b.localhost"] } });
      await page.goto(at("a.localhost"));
      expect(await socketIn(page, at("a.localhost", "/", "ws"), "kept")).toBe("hello");
      expect(await socketIn(page, at("b.localhost", "/", "ws"), "cut")).toBe("hello");
      await test.shoal.browsers.update(id, {
        network: { allowed_hosts: ["a.localhost", "c.localhost"] },
        start_url: at("c.localhost", "/c"),
      });
      await page.waitForURL("**/c");
      expect(await page.title()).toBe("/c");
      await page.goto(at("a.localhost"));
      expect(await socketIn(page, at("a.localhost", "/", "ws"), "kept")).toBe("hello");
      await test.shoal.browsers.update(id, { network: { allowed_hosts: ["a.localhost"] } });
      expect(await page.evaluate("sockets.kept.readyState")).toBe(1);
      expect(await fetched(page, at("c.localhost"))).toBe("failed");
      await test.shoal.browsers.update(id, { network: { allowed_hosts: ["b.localhost"] } });
      await page.waitForFunction("sockets.kept.readyState === 3");
      await test.shoal.browsers.update(id, { network: { allowed_hosts: null } });
      expect(await fetched(page, at("z.localhost"))).toBe("200");
      await close();
    });

    it("apply to pools, and a lease can change its own list only", async () => {
      const pool = await test.shoal.browserPools.create({
        size: 1,
        network: { allowed_hosts: ["A.localhost"] },
        fill_rate_per_minute: 100_000,
      });
      expect(pool.browser_pool_config.network).toEqual({ allowed_hosts: ["a.localhost"] });
      const lease = async () => {
        const session = await test.shoal.browserPools.acquire(pool.id, {});
        const browser = await chromium.connectOverCDP(session.cdp_ws_url);
        return { session, browser, page: await firstPageOf(browser) };
      };
      const first = await lease();
      await first.page.goto(at("a.localhost"));
      expect(await fetched(first.page, at("b.localhost"))).toBe("failed");
      await test.shoal.browsers.update(first.session.session_id, { network: { allowed_hosts: null } });
      expect(await fetched(first.page, at("b.localhost"))).toBe("200");
      await first.browser.close();
      await test.shoal.browserPools.release(pool.id, { session_id: first.session.session_id });
      const second = await lease();
      expect(second.session.network?.allowed_hosts).toEqual(["a.localhost"]);
      await second.page.goto(at("a.localhost"));
      expect(await fetched(second.page, at("b.localhost"))).toBe("failed");
      await second.browser.close();
      await test.shoal.browserPools.release(pool.id, { session_id: second.session.session_id });
      await test.shoal.browserPools.update(pool.id, { network: { allowed_hosts: ["b.localhost"] } });
      const third = await lease();
      expect(third.session.network?.allowed_hosts).toEqual(["b.localhost"]);
      await third.browser.close();
      await test.shoal.browserPools.delete(pool.id, { force: true });
    });
  });

  describe.skipIf(skip)("and routes", () => {
    it("send hosts by their proxies, and fail without them", async () => {
      const [one, two] = await Promise.all(
        proxies.map((server, index) =>
          test.shoal.proxies.create({
            name: `route-${placement}-${String(index)}`,
            type: "custom",
            protocol: "http",
            config: { host: "127.0.0.1", port: Number(port(server)) },
          }),
        ),
      );
      if (one?.id === undefined || two?.id === undefined) throw new Error("no proxies");
      const routes = [
        { hosts: ["*.Shop.localhost"], proxy: { name: one.name ?? "" } },
        { hosts: ["pay.shop.localhost"], proxy: { id: two.id } },
      ];
      for (const invalid of [
        [{ hosts: ["a.example:80"], proxy: { id: one.id } }],
        [{ hosts: ["10.0.0.1"], proxy: { id: one.id } }],
        [{ hosts: ["a.example", "A.example."], proxy: { id: one.id } }],
        [{ hosts: ["a.example"], proxy: {} }],
        [{ hosts: ["a.example"], proxy: { id: one.id, name: "x" } }],
        [{ hosts: [], proxy: { id: one.id } }],
      ])
        expect(
          await refusalOf(test.shoal.browsers.create({ network: { proxy_routes: invalid } })),
          JSON.stringify(invalid),
        ).toMatchObject({ status: 400 });
      expect(
        await refusalOf(
          test.shoal.browsers.create({ network: { proxy_routes: [{ hosts: ["a.example"], proxy: { id: "none" } }] } }),
        ),
      ).toMatchObject({ status: 404 });
      proxied.splice(0);
      const { close, id, page } = await open({
        network: { proxy_routes: routes },
        proxy: { mode: "direct" },
        start_url: at("x.shop.localhost", "/start"),
      });
      expect((await test.shoal.browsers.get(id)).network).toEqual({
        proxy_routes: [
          { hosts: ["*.shop.localhost"], proxy: { id: one.id } },
          { hosts: ["pay.shop.localhost"], proxy: { id: two.id } },
        ],
      });
      await page.waitForURL("**/start");
      await page.goto(at("pay.shop.localhost", "/pay"));
      expect(await page.title()).toBe("/pay");
      await page.goto(at("shop.localhost", "/direct"));
      expect(await page.title()).toBe("/direct");
      const seen = proxied
        .filter(({ url }) => /start|pay$|direct/.test(url))
        .map(({ proxy, url }) => `${proxy} ${url}`);
      expect(seen).toEqual([`one ${at("x.shop.localhost", "/start")}`, `two ${at("pay.shop.localhost", "/pay")}`]);
      const [, server = site] = proxies;
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      asked.splice(0);
      const failed = await page.goto(at("pay.shop.localhost", "/again"));
      expect([failed?.status(), failed?.headers()["x-kernel-proxy-error"]]).toEqual([
        502,
        "destination_route_unavailable",
      ]);
      expect(asked.filter(({ path }) => path === "/again")).toEqual([]);
      await close();
    });
  });
});
