import { eventuallyPasses, waitLimitMs } from "@shoal/testkit";
import type { EgressUpstream } from "../interface/egress.ts";
import { EgressGateway, type EgressDoor } from "./gateway.ts";
import { createEgressPolicy, type ResolveName } from "../policy/egress-policy.ts";
import { createEgressProbe } from "./probe.ts";
import { createMachineProxy, parseUpstream } from "./upstream.ts";
import { certificate, certificateKey } from "../testing/certificate.ts";
import { temporaryDirectory } from "../testing/placements.ts";
import { startHttpProxy, startSocksProxy, type TestProxy } from "../testing/proxy-servers.ts";
import { once } from "node:events";
import { createServer, request as httpRequest, type IncomingMessage, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";

const lines: string[] = [];
const note = (fields: object, message: string): void => {
  lines.push(`${JSON.stringify(fields)} ${message}`);
};
const log = { debug: note, info: note, warn: note, error: note };
const wanted = { username: "us er", password: "p@ss:/word" };
const credentials = `${encodeURIComponent(wanted.username)}:${encodeURIComponent(wanted.password)}`;
const resolveName: ResolveName = async (name) => {
  if (name === "metadata.example") return [{ address: "169.254.169.254", family: 4 }];
  if (name === "near.example") return [{ address: "127.0.0.1", family: 4 }];
  throw Object.assign(new Error("unknown"), { code: "ENOTFOUND" });
};

let site: Server;
let port: number;
let httpProxy: TestProxy;
let httpsProxy: TestProxy;
let socksProxy: TestProxy;
const trusted = getCACertificates("default");
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  site = createServer((request, response) => {
    if (request.url === "/away") response.writeHead(302, { location: `http://169.254.169.254/latest` }).end();
    else response.end(`page of ${request.headers.host ?? ""}`);
  });
  await once(site.listen(0, "127.0.0.1"), "listening");
  port = (site.address() as AddressInfo).port;
  httpProxy = await startHttpProxy(wanted);
  setDefaultCACertificates([...trusted, certificate]);
  httpsProxy = await startHttpProxy(wanted, { key: certificateKey, cert: certificate });
  socksProxy = await startSocksProxy(wanted);
});
afterAll(async () => {
  setDefaultCACertificates(trusted);
  await Promise.all([httpProxy.close(), httpsProxy.close(), socksProxy.close()]);
  site.closeAllConnections();
  site.close();
});
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function openDoor(
  upstream?: EgressUpstream,
  machine?: EgressUpstream,
): Promise<{ path: string; door: EgressDoor }> {
  const path = join(await temporaryDirectory(), "egress.sock");
  const policy = createEgressPolicy(
    [...[httpProxy, httpsProxy, socksProxy].map((proxy) => `127.0.0.1:${String(proxy.port)}`), `near.example:${port}`],
    resolveName,
  );
  const gateway = new EgressGateway(log, {}, machine && createMachineProxy(machine, resolveName));
  const door = await gateway.open(path, policy);
  closing.push(() => door.close());
  if (upstream !== undefined) door.setUpstream(upstream);
  return { path, door };
}

function get(path: string, url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    httpRequest({ socketPath: path, path: url, headers: { host: URL.parse(url)?.host ?? "" } }, resolve)
      .on("error", reject)
      .end();
  });
}

async function tunnel(path: string, target: string): Promise<{ head: string; socket: Socket }> {
  const socket = connect(path);
  closing.push(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.write(`CONNECT ${target} HTTP/1.1\r\nHost: ${target}\r\n\r\n`);
  const [head] = (await once(socket, "data")) as [Buffer];
  return { head: head.toString(), socket };
}

const kinds = [
  ["HTTP", "http", () => httpProxy],
  ["HTTPS", "https", () => httpsProxy],
  ["SOCKS5", "socks5", () => socksProxy],
] as const;

describe.each(kinds)("through an %s proxy", (_name, protocol, proxy) => {
  const upstream = (change: Partial<EgressUpstream> = {}): EgressUpstream => ({
    url: `${protocol}://${credentials}@127.0.0.1:${String(proxy().port)}`,
    bypassHosts: [],
    ...change,
  });

  it("forwards requests and tunnels to names that only the proxy can resolve", async () => {
    const { path } = await openDoor(upstream());
    const before = proxy().asked.length;
    expect(await text(await get(path, `http://far.example:${port}/`))).toBe(`page of far.example:${port}`);
    const { head, socket } = await tunnel(path, `far2.example:${port}`);
    expect(head).toMatch(/^HTTP\/1\.1 200 /);
    socket.write("GET / HTTP/1.0\r\nHost: inside\r\n\r\n");
    const [answer] = (await once(socket, "data")) as [Buffer];
    expect(answer.toString()).toContain("page of inside");
    expect(proxy().asked.slice(before)).toEqual([`far.example:${port}`, `far2.example:${port}`]);
  });

  describe("of the machine", () => {
    it("is used for names that only the proxy can resolve, by requests and tunnels", async () => {
      const { path } = await openDoor(undefined, upstream());
      const before = proxy().asked.length;
      expect(await text(await get(path, `http://far.example:${port}/`))).toBe(`page of far.example:${port}`);
      expect((await tunnel(path, `far2.example:${port}`)).head).toMatch(/^HTTP\/1\.1 200 /);
      expect(proxy().asked.slice(before)).toEqual([`far.example:${port}`, `far2.example:${port}`]);
    });

    it("is not used for allowed private hosts, bypassed hosts, and sessions with another proxy", async () => {
      const { path, door } = await openDoor(undefined, upstream({ bypassHosts: ["*.below.example"] }));
      const before = proxy().asked.length;
      expect(await text(await get(path, `http://near.example:${port}/`))).toBe(`page of near.example:${port}`);
      expect((await get(path, `http://x.below.example:${port}/`)).statusCode).toBe(502);
      door.setUpstream({ url: "http://127.0.0.1:9", bypassHosts: [] });
      expect((await get(path, `http://far.example:${port}/`)).statusCode).toBe(502);
      expect(proxy().asked.length).toBe(before);
    });

    it("may be private, and still no page reaches its address, other private hosts and refused ones", async () => {
      const { path, door } = await openDoor(undefined, upstream({ url: `${protocol}://10.1.2.3:8080` }));
      expect((await get(path, "http://10.1.2.3:8080/")).statusCode).toBe(403);
      expect((await get(path, "http://metadata.example/")).statusCode).toBe(403);
      door.setRules("session", { deny: ["far.example"] });
      expect((await get(path, "http://far.example/")).statusCode).toBe(403);
    });
  });

  it("connects directly to bypassed hosts, under the usual policy", async () => {
    const { path } = await openDoor(upstream({ bypassHosts: ["near.example", "*.below.example"] }));
    const before = proxy().asked.length;
    expect(await text(await get(path, `http://near.example:${port}/`))).toBe(`page of near.example:${port}`);
    expect((await get(path, `http://x.below.example:${port}/`)).statusCode).toBe(502);
    expect(proxy().asked.length).toBe(before);
  });

  it.each([
    "127.0.0.1",
    "[::1]",
    "localhost",
    "foo.localhost",
    "169.254.169.254",
    "[::ffff:169.254.169.254]",
    "[fd00:ec2::254]",
    "0x7f.1",
    "10.0.0.1",
    "metadata.example",
  ])("sends the proxy no request for %s", async (host) => {
    const { path } = await openDoor(upstream());
    const before = proxy().asked.length;
    expect((await get(path, `http://${host}:8080/`)).statusCode).toBe(403);
    expect((await tunnel(path, `${host}:8080`)).head).toMatch(/^HTTP\/1\.1 403 /);
    expect(proxy().asked.length).toBe(before);
  });

  it("checks each hop of a redirect", async () => {
    const { path } = await openDoor(upstream());
    const first = await get(path, `http://far.example:${port}/away`);
    expect(first.statusCode).toBe(302);
    expect((await get(path, first.headers.location ?? "")).statusCode).toBe(403);
  });

  it("rejects a proxy with a refused address", async () => {
    const { path } = await openDoor(upstream({ url: `${protocol}://10.1.2.3:8080` }));
    const answer = await get(path, "http://far.example/");
    expect([answer.statusCode, await text(answer)]).toEqual([
      502,
      expect.stringContaining("10.1.2.3 is a private network"),
    ]);
  });

  it("ends open connections when the proxy is changed or removed during the session", async () => {
    const { path, door } = await openDoor();
    expect((await get(path, `http://far.example:${port}/`)).statusCode).toBe(502);
    door.setUpstream(upstream());
    const { socket } = await tunnel(path, `far.example:${port}`);
    const closed = once(socket, "close");
    door.setUpstream(undefined);
    await closed;
    expect((await get(path, `http://far.example:${port}/`)).statusCode).toBe(502);
    await eventuallyPasses(() => {
      expect(proxy().open()).toBe(0);
    });
  });

  it("sends the page no answer for a wrong password, and does not log the password", async () => {
    const { path } = await openDoor(
      upstream({ url: `${protocol}://someone:wrong-secret@127.0.0.1:${String(proxy().port)}` }),
    );
    expect((await get(path, `http://far.example:${port}/`)).statusCode).toBeGreaterThanOrEqual(500);
    expect((await tunnel(path, `far.example:${port}`)).head).toMatch(/^HTTP\/1\.1 59\d /);
    expect(lines.join("\n")).not.toMatch(/wrong-secret|p%40ss|p@ss/);
  });

  describe("a probe", () => {
    const probe = () =>
      createEgressProbe({ allowPrivateHosts: [`127.0.0.1:${String(proxy().port)}`, `localhost:${String(port)}`], log });

    it("returns the page and the latency", async () => {
      expect(
        await probe().probe(
          upstream({ bypassHosts: ["localhost"] }),
          new URL(`http://localhost:${port}/`),
          waitLimitMs,
        ),
      ).toEqual({
        outcome: "answered",
        status: 200,
        text: `page of localhost:${port}`,
        latencyMs: expect.any(Number) as number,
      });
    });

    it("reports the problem of the proxy", async () => {
      const page = new URL(`http://localhost:${port}/`);
      const reasonOf = async (url: string, target = page) => {
        const result = await probe().probe({ url, bypassHosts: [] }, target, waitLimitMs);
        return result.outcome === "answered" ? "none" : `${result.outcome}: ${result.reason}`;
      };
      expect(await reasonOf(`${protocol}://someone:wrong-secret@127.0.0.1:${String(proxy().port)}`)).toMatch(
        protocol !== "socks5" ? /user name (and|or) password/ : /failed: the proxy/,
      );
      expect(
        await reasonOf(
          `${protocol}://someone:wrong-secret@127.0.0.1:${String(proxy().port)}`,
          new URL(`https://localhost:${port}/`),
        ),
      ).toMatch(/rejects the user name and password/);
      expect(await reasonOf(upstream().url, new URL(`https://localhost:${port}/`))).toMatch(
        /^failed: .*(SSL|wrong version|EPROTO|socket)/i,
      );
      expect(await reasonOf(`${protocol}://10.1.2.3:1`)).toMatch(/^failed: .*private network/);
      expect(await reasonOf(upstream().url, new URL("http://169.254.169.254/"))).toMatch(/^refused: .*169.254.169.254/);
    });
  });
});

it("requires the certificate of a TLS proxy to match its name", async () => {
  const url = (host: string) => `https://${credentials}@${host}:${String(httpsProxy.port)}`;
  const probe = createEgressProbe({ allowPrivateHosts: ["127.0.0.1", "localhost"], log });
  for (const page of [`http://localhost:${port}/`, `https://localhost:${port}/`]) {
    const reached = page.startsWith("https")
      ? { outcome: "failed", reason: expect.not.stringContaining("proxy") as unknown }
      : { outcome: "answered" };
    for (const host of ["localhost", "127.0.0.1"])
      expect(
        await probe.probe({ url: url(host), bypassHosts: [] }, new URL(page), waitLimitMs),
        `${host} for ${page}`,
      ).toMatchObject(reached);
    expect(
      await probe.probe({ url: url("proxy.localhost"), bypassHosts: [] }, new URL(page), waitLimitMs),
    ).toMatchObject({
      outcome: "failed",
      reason: expect.stringMatching(
        page.startsWith("https")
          ? /proxy does not understand the request.*ERR_TLS_CERT_ALTNAME_INVALID/
          : /proxy does not understand the request/,
      ) as unknown,
    });
  }
});

it("trusts the authority of a proxy only for the proxy and the pages that it decrypts", async () => {
  const secure = createTlsServer({ key: certificateKey, cert: certificate }, (_request, response) =>
    response.end("opened"),
  );
  await once(secure.listen(0, "127.0.0.1"), "listening");
  closing.push(() => secure.close());
  const page = new URL(`https://localhost:${String((secure.address() as AddressInfo).port)}/`);
  const probe = createEgressProbe({ allowPrivateHosts: ["127.0.0.1", "localhost"], log });
  const outcome = async (url: string, authorities?: string) => {
    const result = await probe.probe({ url, bypassHosts: [], authorities }, page, waitLimitMs);
    return result.outcome === "answered" ? result.text : result.reason;
  };
  const [plain, inTls] = [
    `http://${credentials}@127.0.0.1:${String(httpProxy.port)}`,
    `https://${credentials}@127.0.0.1:${String(httpsProxy.port)}`,
  ];
  setDefaultCACertificates(trusted);
  try {
    expect(await outcome(plain)).toMatch(/is signed by an unknown authority.*config\.ca_bundle/);
    expect(await outcome(inTls)).toMatch(/proxy does not understand the request/);
    for (const url of [plain, inTls]) expect(await outcome(url, certificate)).toBe("opened");
    expect(await outcome(inTls.replace("127.0.0.1", "proxy.localhost"), certificate)).toMatch(/ALTNAME_INVALID/);
  } finally {
    setDefaultCACertificates([...trusted, certificate]);
  }
});

it("parses addresses, and does not quote an invalid one", () => {
  expect(parseUpstream({ url: "socks5://a:b@[2606:4700::1]", bypassHosts: [] })).toMatchObject({
    hostname: "[2606:4700::1]",
    port: 1080,
    isSocks: true,
  });
  expect(parseUpstream({ url: "socks5://a:b%3Ac@name.example", bypassHosts: [] })).toMatchObject({
    username: "a",
    password: "b:c",
  });
  expect(parseUpstream({ url: "http://a:b%3Ac@name.example", bypassHosts: [] }).authorization).toBe(
    `Basic ${btoa("a:b:c")}`,
  );
  expect(parseUpstream({ url: "https://proxy.example", bypassHosts: [] })).toMatchObject({
    port: 443,
    isTls: true,
    authorization: undefined,
  });
  const read = parseUpstream({ url: "http://p.example", bypassHosts: ["Exact.Example", "*.sub.example"] });
  for (const [host, is] of [
    ["exact.example", true],
    ["EXACT.example.", true],
    ["not.exact.example", false],
    ["a.sub.example", true],
    ["a.b.sub.example", true],
    ["sub.example", false],
    ["evilsub.example", false],
  ] as const)
    expect(read.bypasses(host), host).toBe(is);
  for (const url of ["ftp://u:secret@x", "socks4://u:secret@x", "u:secret@x:80", "http://", ""]) {
    expect(() => parseUpstream({ url, bypassHosts: [] })).toThrow(
      expect.objectContaining({ code: "bad_option", message: expect.not.stringContaining("secret") as unknown }),
    );
  }
});
