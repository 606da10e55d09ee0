import type { Browser as Session, Proxy } from "@shoal/client";
import { waitLimitMs } from "@shoal/testkit";
import { chromium, type Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { readCertificate } from "../testing/certificate.ts";
import { authorityPlacements } from "../testing/components.ts";
import { type OpeningProxy, startOpeningProxy } from "../testing/opening-proxy.ts";
import { firstPageOf } from "../testing/page.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";

let opening: OpeningProxy;
let inTls: OpeningProxy;
beforeAll(async () => {
  [opening, inTls] = await Promise.all([startOpeningProxy(), startOpeningProxy({ tls: true })]);
});
afterAll(() => {
  opening.close();
  inTls.close();
});

const authority = readCertificate("authority.pem");
const otherAuthority = readCertificate("other-authority.pem");
/** The outcome of a visit to each, with and without trust in the authority. */
const sites = ["site.test", "elsewhere.test", "expired.test", "foreign.test", "forged.test"];
const trusted = [
  "site.test",
  "net::ERR_CERT_COMMON_NAME_INVALID",
  "net::ERR_CERT_DATE_INVALID",
  "net::ERR_CERT_AUTHORITY_INVALID",
  "net::ERR_CERT_AUTHORITY_INVALID",
];
const untrusted = "net::ERR_CERT_AUTHORITY_INVALID";

const connectTo = (session: Session): Promise<Browser> =>
  chromium.connectOverCDP(session.cdp_ws_url, { timeout: waitLimitMs });

async function visit(client: Browser, host: string): Promise<string> {
  const page = await client.contexts()[0]?.newPage();
  try {
    await page?.goto(`https://${host}/`, { timeout: waitLimitMs });
    return (await page?.title()) ?? "";
  } catch (error) {
    return /net::\w+/.exec(String(error))?.[0] ?? String(error);
  } finally {
    await page?.close();
  }
}

async function visitAll(session: Session, hosts = sites): Promise<string[]> {
  const client = await connectTo(session);
  // In parallel: a full Chromium takes seconds for each certificate that it refuses.
  const seen = await Promise.all(hosts.map((host) => visit(client, host)));
  await client.close();
  return seen;
}

describe.each(authorityPlacements)("behind a proxy that opens TLS, in the placement $title", ({ placement, skip }) => {
  describe.skipIf(skip)("with a service", () => {
    // One instance is pre-started, as on a laptop: it must not pass on the settings.
    const test = useService(() => [
      "--placement",
      placement,
      "--warm",
      "1",
      "--allow-private-hosts",
      opening.host,
      "--allow-private-hosts",
      inTls.host,
    ]);

    async function addProxy(
      ca_bundle?: string,
      { port } = opening,
      protocol: "http" | "https" = "http",
    ): Promise<Proxy & { id: string }> {
      const proxy = await test.shoal.proxies.create({
        type: "custom",
        protocol,
        config: { host: "127.0.0.1", port, ...(ca_bundle !== undefined && { ca_bundle }) },
      });
      return { ...proxy, id: proxy.id ?? "" };
    }

    describe.each([
      ["headless shell", {}],
      ["full Chromium", { stealth: true }],
    ])("in a %s", (kind, options) => {
      it("trusts its authority for the sites that it signed, in this session alone", async () => {
        const { browsers } = test.shoal;
        const proxy = await addProxy(authority);
        expect(proxy.config).toEqual({
          host: "127.0.0.1",
          port: opening.port,
          has_password: false,
          has_ca_bundle: true,
        });
        const [session, stranger] = await Promise.all([
          browsers.create({
            ...options,
            proxy_id: proxy.id,
            start_url: "https://site.test/start",
            timeout_seconds: 600,
          }),
          browsers.create({ ...options, proxy_id: (await addProxy()).id, timeout_seconds: 600 }),
        ]);
        const client = await connectTo(session);
        const first = await firstPageOf(client);
        await first.waitForURL("https://site.test/start", { timeout: waitLimitMs });
        expect(await first.title()).toBe("site.test");
        await client.close();
        expect(await Promise.all([visitAll(session), visitAll(stranger, ["site.test"])])).toEqual([
          trusted,
          [untrusted],
        ]);

        const { status, body } = await browsers.curl(session.session_id, { url: "https://site.test/" });
        expect([status, body]).toEqual([200, "<!doctype html><title>site.test</title>"]);
        const answer = await browsers.fetch(session.session_id, "https://site.test/");
        expect(await answer.text()).toBe(body);
        const refused = async (id: string, host: string) =>
          (await refusalOf(browsers.curl(id, { url: `https://${host}/` }, { maxRetries: 0 }))).message;
        expect(
          await Promise.all([
            refused(session.session_id, "forged.test"),
            refused(session.session_id, "expired.test"),
            refused(stranger.session_id, "site.test"),
          ]),
        ).toEqual(
          ["AUTHORITY", "DATE", "AUTHORITY"].map(
            (why) => expect.stringContaining(`net::ERR_CERT_${why}_INVALID`) as unknown,
          ),
        );
        const { stdout } = await browsers.process.run(session.session_id, {
          command: "sh",
          args: ["-c", "cd /proc; cat [0-9]*/cmdline | tr '\\0' ' '; ls ~/.pki"],
        });
        expect(stdout).toMatch(/nssdb\n$/);
        expect(stdout).not.toContain("--ignore-certificate-errors");

        await Promise.all([browsers.delete(session.session_id), browsers.delete(stranger.session_id)]);
        const next = await browsers.create({ ...options, proxy_id: (await addProxy()).id, timeout_seconds: 600 });
        expect(await visitAll(next, ["site.test"])).toEqual([untrusted]);
        await browsers.delete(next.session_id);
      });

      // It takes three seconds per refused certificate; the sandbox covers it.
      if (kind === "full Chromium" && placement === "process") return;

      it("is added to a running session, replaced and removed", async () => {
        const { browsers } = test.shoal;
        const [plain, one, same, other] = await Promise.all([
          addProxy(),
          addProxy(authority),
          addProxy(`for people: ${authority}`),
          addProxy(otherAuthority),
        ]);
        const session = await browsers.create({ ...options, proxy_id: plain.id, timeout_seconds: 600 });
        const both = ["site.test", "foreign.test"];
        expect(await visitAll(session, ["site.test"])).toEqual([untrusted]);
        const client = await connectTo(session);
        const closed = new Promise((resolve) => client.once("disconnected", resolve));
        expect(await browsers.update(session.session_id, { proxy: { id: one.id } })).toMatchObject({
          proxy: { id: one.id },
        });
        await closed;
        expect(await visitAll(session, both)).toEqual(["site.test", untrusted]);

        // The same authority needs no restart.
        const kept = await connectTo(session);
        const page = await firstPageOf(kept);
        await page.evaluate("globalThis.kept = 'yes'");
        await browsers.update(session.session_id, { proxy: { id: same.id } });
        expect(await page.evaluate("globalThis.kept")).toBe("yes");
        await kept.close();

        await browsers.update(session.session_id, { proxy: { id: other.id } });
        expect(await visitAll(session, both)).toEqual([untrusted, "foreign.test"]);
        await browsers.update(session.session_id, { proxy_id: plain.id });
        expect(await visitAll(session, both)).toEqual([untrusted, untrusted]);
        // Cookies of the site have survived.
        const again = await connectTo(session);
        expect((await again.contexts()[0]?.cookies("https://site.test/"))?.map(({ name }) => name)).toEqual(["opened"]);
        await again.close();
        expect((await browsers.get(session.session_id)).browser_restarts).toBe(0);
        await browsers.delete(session.session_id);
      });
    });

    it("applies the last of several changes at once with its authority", async () => {
      const { browsers } = test.shoal;
      const [plain, one, other] = await Promise.all([addProxy(), addProxy(authority), addProxy(otherAuthority)]);
      const session = await browsers.create({ proxy_id: plain.id, timeout_seconds: 600 });
      await Promise.all(
        [one, other, plain, one].map(({ id }) => browsers.update(session.session_id, { proxy_id: id })),
      );
      const { proxy_id } = await browsers.get(session.session_id);
      const expected = {
        [plain.id]: [untrusted, untrusted],
        [one.id]: ["site.test", untrusted],
        [other.id]: [untrusted, "foreign.test"],
      };
      expect(await visitAll(session, ["site.test", "foreign.test"])).toEqual(expected[proxy_id ?? ""]);
      await browsers.delete(session.session_id);
    });

    it("can be reached over TLS with its authority's certificate", async () => {
      const { browsers, proxies } = test.shoal;
      const [known, unknown] = await Promise.all([
        addProxy(authority, inTls, "https"),
        addProxy(undefined, inTls, "https"),
      ]);
      const session = await browsers.create({ proxy_id: known.id, timeout_seconds: 600 });
      expect(await visitAll(session)).toEqual(trusted);
      await browsers.update(session.session_id, { proxy_id: unknown.id });
      expect(await visitAll(session, ["site.test"])).toEqual(["net::ERR_TUNNEL_CONNECTION_FAILED"]);
      expect((await proxies.check(known.id, { url: "https://site.test/" })).latency_ms).toBeGreaterThanOrEqual(0);
      expect(await refusalOf(proxies.check(unknown.id, { url: "https://site.test/" }))).toMatchObject({
        status: 422,
        code: "proxy_check_failed",
      });
      await browsers.delete(session.session_id);
    });

    it("is checked in the way that sessions use it", async () => {
      const { proxies } = test.shoal;
      const [known, unknown] = await Promise.all([addProxy(authority), addProxy()]);
      expect(await proxies.check(known.id, { url: "https://site.test/" })).toMatchObject({
        id: known.id,
        config: { has_ca_bundle: true },
      });
      expect((await refusalOf(proxies.check(unknown.id, { url: "https://site.test/" }))).message).toContain(
        "create it with its certificate authority as config.ca_bundle",
      );
      for (const host of ["forged.test", "expired.test", "elsewhere.test"])
        expect(await refusalOf(proxies.check(known.id, { url: `https://${host}/` })), host).toMatchObject({
          status: 422,
        });
    });

    it("serves the browsers of a pool with separate trust", async () => {
      const { browserPools } = test.shoal;
      const [known, unknown] = await Promise.all([addProxy(authority), addProxy()]);
      const pool = await browserPools.create({ size: 1, proxy_id: known.id });
      const acquire = async (id: string) =>
        (await browserPools.acquire(id, { acquire_timeout_seconds: 60 })) ?? expect.fail("No browser came.");
      const taken = await acquire(pool.id);
      expect(await visitAll(taken)).toEqual(trusted);
      await browserPools.release(pool.id, { session_id: taken.session_id });
      await browserPools.delete(pool.id, { force: true });
      const next = await browserPools.create({ size: 1, proxy_id: unknown.id });
      expect(await visitAll(await acquire(next.id), ["site.test"])).toEqual([untrusted]);
      await browserPools.delete(next.id, { force: true });
    });
  });
});
