import { installedPlaces } from "./chromium/places.ts";
import { fontCachePath } from "./sandbox/font-cache.ts";
import { openPage } from "./testing/cdp.ts";
import { openPlacement, runInside, sessionFolders } from "./testing/placements.ts";
import { familyOf, type Known, stillRunning } from "./testing/processes.ts";
import { startHttpProxy, startSocksProxy } from "./testing/proxy-servers.ts";
import { describeWith, needsOf, testedKinds } from "./testing/requirements.ts";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { WebSocketServer } from "ws";

let site: Server;
let port: number;
let hits = 0;
beforeAll(async () => {
  site = createServer((request, response) => {
    hits += 1;
    if (request.url === "/away") response.writeHead(302, { location: `http://127.0.0.2:${port}/` }).end();
    else response.writeHead(200, { "content-type": "text/html" }).end("<body>the host's page</body>");
  });
  new WebSocketServer({ server: site }).on("connection", (socket) => {
    socket.send("hello");
  });
  await once(site.listen(0, "0.0.0.0"), "listening");
  port = (site.address() as AddressInfo).port;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

const isBrowser = ({ name }: Known): boolean => name.startsWith("chrom") || name.startsWith("headless");
const browsers = installedPlaces().filter((path) => existsSync(path));
const assign = { session_id: "s1", timeout_seconds: 3_600 };

for (const kind of testedKinds()) {
  describeWith(needsOf(kind), `a browser in a ${kind} placement`, () => {
    it("cannot reach the host's ports", async () => {
      const { placement } = await openPlacement({ kind });
      const page = await openPage(await placement.acquire(assign));
      const before = hits;
      for (const host of [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "0.0.0.0",
        "2130706433",
        "0x7f.1",
        "[::ffff:127.0.0.1]",
        "localhost.",
        "foo.localhost",
        "169.254.169.254",
      ]) {
        expect((await page.open(`http://${host}:${port}/`)).error, host).toBe("net::ERR_EMPTY_RESPONSE");
        await expect
          .poll(() => page.evaluate("document.body?.innerText"), { message: host })
          .toMatch(/may not reach .*--allow-private-hosts/);
      }
      expect((await page.open(`https://127.0.0.1:${port}/`)).error).toBe("net::ERR_TUNNEL_CONNECTION_FAILED");
      await expect
        .poll(() => page.evaluate("document.body?.innerText"))
        .toMatch(/may not reach .*--allow-private-hosts/);
      await page.open("about:blank");
      expect(
        await page.evaluate(
          `new Promise((resolve) => { const s = new WebSocket("ws://127.0.0.1:${port}/"); s.onopen = () => resolve("open"); s.onerror = () => resolve("refused"); })`,
        ),
      ).toBe("refused");
      expect(hits).toBe(before);
    });

    it("reaches allowed hosts over HTTP and WebSockets, but not redirects to others", async () => {
      const { placement } = await openPlacement({ kind, allowPrivateHosts: [`127.0.0.1:${port}`] });
      const page = await openPage(await placement.acquire(assign));
      expect(await page.open(`http://127.0.0.1:${port}/`)).toEqual({ error: "", shown: "the host's page" });
      expect(
        await page.evaluate(
          `new Promise((resolve) => { const s = new WebSocket("ws://127.0.0.1:${port}/"); s.onmessage = (m) => resolve(m.data); s.onerror = () => resolve("refused"); })`,
        ),
      ).toBe("hello");
      expect((await page.open(`http://127.0.0.1:${port}/away`)).error).toBe("net::ERR_EMPTY_RESPONSE");
      await expect.poll(() => page.evaluate("document.body?.innerText")).toMatch(/may not reach 127.0.0.2:/);
    });

    it("switches between an HTTP proxy, a SOCKS5 proxy and no proxy under an open page", async () => {
      const wanted = { username: "user", password: "p@ss" };
      const [http, socks] = await Promise.all([startHttpProxy(wanted), startSocksProxy(wanted)]);
      try {
        const { placement } = await openPlacement({
          kind,
          allowPrivateHosts: [`127.0.0.1:${http.port}`, `127.0.0.1:${socks.port}`],
        });
        const instance = await placement.acquire(assign, undefined, {
          upstream: { url: `http://user:p%40ss@127.0.0.1:${http.port}`, bypassHosts: ["near.localhost"] },
        });
        const page = await openPage(instance);
        expect(await page.open(`http://far.invalid:${port}/`)).toEqual({ error: "", shown: "the host's page" });
        expect(
          await page.evaluate(
            `new Promise((resolve) => { const s = new WebSocket("ws://far.invalid:${port}/"); s.onmessage = (m) => resolve(m.data); s.onerror = () => resolve("refused"); })`,
          ),
        ).toBe("hello");
        expect(http.asked).toEqual(expect.arrayContaining([`far.invalid:${port}`]));
        for (const refused of [`http://near.localhost:${port}/`, "http://169.254.169.254/"]) {
          expect((await page.open(refused)).error).toBe("net::ERR_EMPTY_RESPONSE");
          await expect.poll(() => page.evaluate("document.body?.innerText")).toMatch(/may not reach/);
        }
        instance.setUpstream({ url: `socks5://user:p%40ss@127.0.0.1:${socks.port}`, bypassHosts: [] });
        expect(await page.open(`http://other.invalid:${port}/`)).toEqual({ error: "", shown: "the host's page" });
        expect(socks.asked).toEqual(expect.arrayContaining([`other.invalid:${port}`]));
        instance.setUpstream(undefined);
        expect((await page.open(`http://third.invalid:${port}/`)).error).toBe("net::ERR_EMPTY_RESPONSE");
        await expect.poll(() => page.evaluate("document.body?.innerText")).toMatch(/could not be resolved/);
        const hosts = [...http.asked, ...socks.asked].map((asked) => asked.split(":")[0]);
        expect(new Set(hosts)).toEqual(new Set(["far.invalid", "other.invalid"]));
      } finally {
        await Promise.all([http.close(), socks.close()]);
      }
    });

    // Containers have no shared browsers.
    it.skipIf(kind === "docker")(
      "shares a browser between sessions of one project, and ends it some time after the last one",
      async () => {
        const { placement, sessionsDir } = await openPlacement({ kind, sharedIdleMs: 10 });
        const open = (session_id: string, project: string) =>
          placement.acquire({ ...assign, session_id }, undefined, { isolation: "context", project });
        const folders = async () => (await sessionFolders(sessionsDir)).length;
        const [one, two, other] = await Promise.all([open("s1", "p1"), open("s2", "p1"), open("s3", "p2")]);
        expect(await folders()).toBe(2);
        await Promise.all([one.stop(), other.stop()]);
        // The browser of the other project ends, and this one serves its second session.
        await expect.poll(folders).toBe(1);
        expect(await (await openPage(two)).evaluate("1")).toBe(1);
        await two.stop();
        await expect.poll(folders).toBe(0);
        const next = await open("s4", "p1");
        expect(await (await openPage(next)).evaluate("1")).toBe(1);
        expect(await folders()).toBe(1);
      },
    );
  });
}

describeWith(["chromium", "bubblewrap"], "in a box", () => {
  it.each(browsers)("%s keeps its inner sandbox", async (chromium) => {
    const { placement } = await openPlacement({ kind: "sandbox", chromium });
    const instance = await placement.acquire(assign);
    const page = await openPage(instance);
    expect(await page.evaluate("1")).toBe(1);
    const family = familyOf(instance.pid).filter(isBrowser);
    expect(family.some(({ pid }) => commandLine(pid).includes("--no-sandbox"))).toBe(false);
    const renderers = family.filter(({ pid }) => commandLine(pid).includes("--type=renderer"));
    expect(renderers.length).toBeGreaterThan(0);
    const [browser] = family;
    const seen = renderers.flatMap((renderer) => {
      const { pid } = renderer;
      try {
        return [
          {
            status: readFileSync(`/proc/${pid}/status`, "utf8"),
            user: readlinkSync(`/proc/${pid}/ns/user`),
            net: readlinkSync(`/proc/${pid}/ns/net`),
          },
        ];
      } catch (error) {
        // A spare renderer may end meanwhile.
        if (stillRunning([renderer]).length > 0) throw error;
        return [];
      }
    });
    expect(seen.length).toBeGreaterThan(0);
    for (const { net, status, user } of seen) {
      expect(status).toMatch(/Seccomp:\s+2/);
      expect(user).not.toBe(readlinkSync(`/proc/${browser?.pid ?? 0}/ns/user`));
      expect(net).not.toBe(readlinkSync("/proc/self/ns/net"));
    }
  });

  it.each(browsers.filter(() => browsers.some((path) => !path.includes("headless"))))(
    "%s, or the full browser in addition to it, follows the policies of its session",
    async (chromium) => {
      const { placement } = await openPlacement({
        kind: "sandbox",
        chromium,
        allowPrivateHosts: [`127.0.0.1:${port}`],
      });
      const [first, second] = await Promise.all([
        placement.acquire({ ...assign, launch: { full: true, again: true } }, undefined, {
          policies: { URLBlocklist: [`127.0.0.1:${port}`] },
        }),
        placement.acquire({ ...assign, session_id: "s2", launch: { full: true } }),
      ]);
      const [held, free] = await Promise.all([openPage(first), openPage(second)]);
      expect((await held.open(`http://127.0.0.1:${port}/`)).error).toBe("net::ERR_BLOCKED_BY_ADMINISTRATOR");
      expect(await free.open(`http://127.0.0.1:${port}/`)).toEqual({ error: "", shown: "the host's page" });
    },
  );

  it("uses the host's fontconfig cache, read-only", async () => {
    const { placement } = await openPlacement({ kind: "sandbox", standIn: "fine" });
    const box = await placement.acquire(assign);
    const all = existsSync(fontCachePath) ? readdirSync(fontCachePath) : [];
    const { stdout } = await runInside(box, `ls ${fontCachePath} 2>/dev/null`);
    const seen = stdout.split("\n").filter((name) => name !== "");
    expect(all).toEqual(expect.arrayContaining(seen));
    const top = createHash("md5").update("/usr/share/fonts").digest("hex");
    expect(seen.filter((name) => name.startsWith(top))).toEqual(all.filter((name) => name.startsWith(top)));
    expect((await runInside(box, `: >> ${fontCachePath}/x`)).code).not.toBe(0);
  });

  it("uses the time zone UTC", async () => {
    const { placement } = await openPlacement({ kind: "sandbox" });
    const page = await openPage(await placement.acquire(assign));
    expect(
      await page.evaluate("Intl.DateTimeFormat().resolvedOptions().timeZone + new Date(0).getTimezoneOffset()"),
    ).toBe("UTC0");
  });

  it("reads files of the box, but not of the host", async () => {
    const { placement } = await openPlacement({ kind: "sandbox" });
    const page = await openPage(await placement.acquire(assign));
    expect((await page.open("file:///etc/passwd")).shown).toContain("shoal:x:1000");
    expect((await page.open("file:///etc/shadow")).error).toBe("net::ERR_FILE_NOT_FOUND");
  });
});

function commandLine(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}
