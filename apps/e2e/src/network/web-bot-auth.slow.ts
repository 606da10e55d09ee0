import { httpbis } from "http-message-signatures";
import { createPublicKey, verify, type JsonWebKey } from "node:crypto";
import { createServer as createHttpsServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { chromium } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { certificate, certificateKey } from "../testing/certificate.ts";
import { addProject } from "../testing/projects.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const agent = "https://bots.example";

/** Requests by path. */
const seen = new Map<string, IncomingMessage>();
let other: Site;

function answer(request: IncomingMessage, response: ServerResponse): void {
  const { pathname } = new URL(request.url ?? "/", "http://site");
  seen.set(pathname, request);
  response.setHeader("access-control-allow-origin", "*");
  if (pathname === "/out") response.writeHead(302, { location: `${other.url}outside` }).end();
  else if (pathname === "/back") response.writeHead(302, { location: "/again" }).end();
  else if (pathname.endsWith(".js")) response.setHeader("content-type", "text/javascript").end(script(pathname));
  else response.setHeader("content-type", "text/html").end(pathname === "/" ? page() : "<title>ok</title>");
}

const script = (path: string): string => `fetch("/from${path.replace(".js", "")}")`;
const page =
  (): string => `<title>Shop</title><iframe src="/frame"></iframe><img src="/image"><img src="${other.url}image">
  <script>fetch("/api", { method: "POST", body: "x" }); fetch("/back"); fetch("/out");
  new Worker("/worker.js"); navigator.serviceWorker.register("/service.js");</script>`;

/** As a verifying site does it, with a library that did not sign. */
async function isSignedBy(request: IncomingMessage, key: JsonWebKey, url: string): Promise<boolean> {
  const publicKey = createPublicKey({ key, format: "jwk" });
  const message = { method: request.method ?? "", url, headers: request.headers as Record<string, string> };
  const verified = await httpbis.verifyMessage(
    {
      requiredParams: ["created", "expires", "keyid", "tag", "nonce"],
      requiredFields: ["@authority", "signature-agent"],
      maxAge: 300,
      keyLookup: () =>
        Promise.resolve({
          algs: ["ed25519"],
          verify: (data: Buffer, signature: Buffer) => Promise.resolve(verify(null, data, publicKey, signature)),
        }),
    },
    message,
  );
  return verified === true;
}

describe("Web Bot Auth", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveSite(answer);
    other = await serveSite((request, response) => {
      seen.set(`other ${request.url ?? ""}`, request);
      response.setHeader("access-control-allow-origin", "*").end("ok");
    });
  });
  afterAll(async () => {
    await site.close();
    await other.close();
  });
  const test = useService(() => ["--allow-private-hosts", "127.0.0.1,localhost"]);

  it("signs requests of pages, frames, workers and redirects to listed hosts only", async () => {
    const { keys } = await test.shoal.botIdentity.get();
    // The other site has the same name, and an address that is not listed.
    const [host = ""] = site.host.split(":");
    const outside = other.url;
    other = { ...other, url: outside.replace(host, "localhost") };
    await using browser = await test.shoal.browsers.create({
      web_bot_auth: { enabled: true, sign_only: [host], signature_agent: agent },
    });
    expect(browser.web_bot_auth).toMatchObject({ sign_only: [host] });
    await browser.goto(site.url);
    const signed = [
      "/",
      "/frame",
      "/image",
      "/api",
      "/back",
      "/again",
      "/out",
      "/worker.js",
      "/from/worker",
      "/service.js",
      "/from/service",
    ];
    await expect.poll(() => signed.filter((path) => !seen.has(path))).toEqual([]);
    await expect.poll(() => seen.has("other /outside") && seen.has("other /image")).toBe(true);
    for (const path of signed) {
      const request = seen.get(path);
      if (request === undefined) throw new Error(path);
      expect(request.headers["signature-agent"], path).toBe(`"${agent}"`);
      expect(await isSignedBy(request, keys[0]?.public_key ?? {}, `${site.url}${path.slice(1)}`), path).toBe(true);
      expect(request.headers["signature-input"]).toContain(`keyid="${keys[0]?.key_id ?? ""}"`);
      expect(request.headers["signature-input"]).toContain(`tag="web-bot-auth"`);
    }
    for (const path of ["other /outside", "other /image"])
      expect(seen.get(path)?.headers).not.toHaveProperty("signature");
  });

  it("signs requests over TLS, with a client that intercepts requests too", async () => {
    const server = createHttpsServer({ cert: certificate, key: certificateKey }, answer);
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    const url = `https://127.0.0.1:${String((server.address() as AddressInfo).port)}/secure`;
    try {
      await using browser = await test.shoal.browsers.create({
        web_bot_auth: { enabled: true, signature_agent: agent },
      });
      const client = await chromium.connectOverCDP(browser.cdp_ws_url);
      const context = await client.newContext({ ignoreHTTPSErrors: true });
      const opened = await context.newPage();
      await opened.route("**/*", (route) =>
        route.continue({ headers: { ...route.request().headers(), "x-client": "1" } }),
      );
      await opened.goto(url);
      await client.close();
      const { keys } = await test.shoal.botIdentity.get();
      const request = seen.get("/secure");
      if (request === undefined) throw new Error("not reached");
      expect(request.headers["x-client"]).toBe("1");
      expect(await isSignedBy(request, keys[0]?.public_key ?? {}, url)).toBe(true);
    } finally {
      server.closeAllConnections();
      server.close();
    }
  });

  it("signs requests of sessions and pools as their profile says, unless they choose for themselves", async () => {
    const { browserPools, browsers, profiles } = test.shoal;
    const [host = ""] = site.host.split(":");
    const ofProfile = { enabled: true, sign_only: [host], signature_agent: agent };
    expect(await profiles.create({ name: "bot", web_bot_auth: ofProfile })).toMatchObject({ web_bot_auth: ofProfile });
    const profile = { name: "bot" };
    const signedAt = async (browser: { goto(url: string): Promise<unknown> }, path: string) => {
      await browser.goto(`${site.url}${path}`);
      return seen.get(`/${path}`)?.headers["signature-agent"];
    };
    {
      await using inherits = await browsers.create({ profile });
      expect(inherits).toMatchObject({ web_bot_auth: ofProfile, profile: { web_bot_auth: ofProfile } });
      expect(await signedAt(inherits, "inherits")).toBe(`"${agent}"`);
    }
    {
      await using refuses = await browsers.create({ profile, web_bot_auth: { enabled: false } });
      expect(refuses.web_bot_auth).toBeUndefined();
      expect(await signedAt(refuses, "refuses")).toBeUndefined();
    }

    const leased = async (pool: Parameters<typeof browserPools.create>[0], path: string) => {
      const { id } = await browserPools.create({ fill_rate_per_minute: 100, ...pool });
      const { session_id } = await browserPools.acquire(id, {});
      const browser = await browsers.attach(session_id);
      const answer = [await signedAt(browser, path), (await browsers.get(session_id)).web_bot_auth?.enabled];
      await browserPools.delete(id, { force: true });
      return answer;
    };
    expect(await leased({ size: 1, profile }, "pool-of-profile")).toEqual([`"${agent}"`, true]);
    expect(await leased({ size: 1, profile, web_bot_auth: { enabled: false } }, "pool-without")).toEqual([
      undefined,
      undefined,
    ]);
    expect(await leased({ size: 1, web_bot_auth: ofProfile }, "pool")).toEqual([`"${agent}"`, true]);

    const clone = await profiles.clone("bot", { name: "second" });
    expect(clone.web_bot_auth).toEqual(ofProfile);
    expect((await profiles.update("bot", { web_bot_auth: null })).web_bot_auth).toBeUndefined();
    await using later = await browsers.create({ profile });
    expect(await signedAt(later, "later")).toBeUndefined();
    await expect(profiles.update("bot", {})).rejects.toMatchObject({ status: 400 });
  });

  it("serves a signed directory with the old key after a rotation, and another key for each project", async () => {
    const { shoal } = test;
    const [before] = (await shoal.botIdentity.get()).keys;
    const { keys } = await shoal.botIdentity.rotate();
    expect(keys.map(({ key_id, retires_at }) => [key_id === before?.key_id, retires_at === null])).toEqual([
      [false, true],
      [true, false],
    ]);
    const { shoal: second } = await addProject(test, "second");
    const own = await second.botIdentity.get();
    const ids = [...keys, ...own.keys].map(({ key_id }) => key_id);
    expect(new Set(ids).size).toBe(3);
    const address = `${test.service.baseUrl}/.well-known/http-message-signatures-directory`;
    const response = await fetch(address);
    expect(response.headers.get("content-type")).toBe("application/http-message-signatures-directory+json");
    const directory = (await response.json()) as { keys: (JsonWebKey & { kid: string })[] };
    expect(directory.keys.map(({ kid }) => kid).sort()).toEqual([...ids].sort());
    expect(JSON.stringify(directory)).not.toContain('"d"');
    const signatures = response.headers.get("signature-input") ?? "";
    expect(signatures).toContain(`tag="http-message-signatures-directory"`);
    const byId = new Map(directory.keys.map((key) => [key.kid, createPublicKey({ key, format: "jwk" })]));
    const verified = await httpbis.verifyMessage(
      {
        all: true,
        requiredFields: ["@authority"],
        keyLookup: ({ keyid = "" }) => {
          const key = byId.get(keyid);
          if (key === undefined) return Promise.resolve(null);
          return Promise.resolve({
            algs: ["ed25519"],
            verify: (data: Buffer, signature: Buffer) => Promise.resolve(verify(null, data, key, signature)),
          });
        },
      },
      { status: 200, headers: Object.fromEntries(response.headers) },
      { method: "GET", url: address, headers: {} },
    );
    expect(verified).toBe(true);
  });
});
