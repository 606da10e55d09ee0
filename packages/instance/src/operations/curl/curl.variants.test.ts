import type { CurlResult } from "@shoal/schemas";
import { eventually } from "@shoal/testkit";
import {
  createServer,
  type IncomingMessage,
  request as httpRequest,
  type Server,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killBrowser } from "../../testing/processes.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

const big = Buffer.alloc(3_000_000, "0123456789abcdef");
let site: Server;
let origin: string;
const slow = new Set<ServerResponse>();

async function readAll(request: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = new URL(request.url ?? "/", origin);
  const body = await readAll(request);
  switch (url.pathname) {
    case "/echo":
      response.setHeader("content-type", "application/json").setHeader("X-Many", ["one", "two"]);
      response.end(
        JSON.stringify({ method: request.method, headers: request.headers, body: body.toString(), bytes: body.length }),
      );
      break;
    case "/login":
      response
        .setHeader("set-cookie", ["sid=secret; HttpOnly; SameSite=Strict; Path=/", "theme=dark; Path=/; Max-Age=3600"])
        .end("in");
      break;
    case "/logout":
      response.setHeader("set-cookie", "sid=; Path=/; Max-Age=0").end("out");
      break;
    case "/redirect":
      response
        .writeHead(Number(url.searchParams.get("status") ?? 302), {
          location: url.searchParams.get("to") ?? "/echo",
          "set-cookie": "hop=1; Path=/",
        })
        .end("moved");
      break;
    case "/loop":
      response.writeHead(302, { location: "/loop" }).end();
      break;
    case "/status":
      response.writeHead(Number(url.searchParams.get("is")), { "www-authenticate": "Basic realm=a" }).end();
      break;
    case "/gzip":
      response
        .writeHead(200, { "content-encoding": "gzip", "content-type": "text/plain" })
        .end(gzipSync("zipped text"));
      break;
    case "/big":
      response
        .writeHead(200, {
          "content-disposition": "attachment; filename=big.bin",
          "content-type": "application/octet-stream",
        })
        .end(big);
      break;
    case "/slow":
      slow.add(
        response.writeHead(200, { "content-type": "text/event-stream" }).on("close", () => slow.delete(response)),
      );
      response.write("begun");
      break;
    case "/never":
      slow.add(response.on("close", () => slow.delete(response)));
      break;
    case "/odd":
      request.socket.end(
        `HTTP/1.1 ${url.searchParams.get("status") ?? "200"} Odd\r\nX-File: "中文.txt"\r\nConnection: close\r\n\r\nodd`,
      );
      break;
    case "/broken":
      request.socket.destroy();
      break;
    default:
      response
        .setHeader("content-type", "text/html")
        .end(`<title>${url.pathname}</title><script>document.title = document.cookie</script>`);
  }
}

beforeAll(async () => {
  site = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
});
afterAll(() => {
  site.close();
  site.closeAllConnections();
});

describeChromium("requests through the browser", (chromium) => {
  let instance: RunningInstance;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 300 });
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function curl(body: object): Promise<CurlResult> {
    const { status, text } = await instance.call("POST", "/curl", JSON.stringify(body));
    if (status !== 200) throw new Error(`${status} ${text}`);
    return JSON.parse(text) as CurlResult;
  }
  async function refusal(body: object): Promise<unknown> {
    const { status, text } = await instance.call("POST", "/curl", JSON.stringify(body));
    return { status, ...(JSON.parse(text) as object) };
  }
  const echoed = (result: CurlResult) =>
    JSON.parse(result.body) as { method: string; headers: Record<string, string>; body: string; bytes: number };

  it("sends the browser's own headers, with the caller's changes", async () => {
    const result = await curl({ url: `${origin}/echo` });
    expect(result).toMatchObject({
      status: 200,
      headers: { "content-type": ["application/json"], "x-many": ["one, two"] },
    });
    expect(echoed(result)).toMatchObject({
      method: "GET",
      headers: { "user-agent": expect.stringMatching(/Chrome\/\d+/) as string, "sec-fetch-mode": "navigate" },
    });
    const changed = echoed(
      await curl({
        url: `${origin}/echo`,
        headers: {
          "User-Agent": "mine",
          referer: "http://other.example/",
          "X-Own": "ä",
          host: "evil",
          authorization: "Bearer t",
        },
      }),
    );
    expect(changed.headers).toMatchObject({
      "user-agent": "mine",
      referer: "http://other.example/",
      authorization: "Bearer t",
    });
    expect(changed.headers.host).toBe(origin.slice(7));
  });

  it.each([
    { "x-key": "a\r\nx-added: 1" },
    { "x-key": "\0" },
    { "x\r\ny": "1" },
    { "Proxy-Authorization": "Basic eDp5" },
  ])("refuses headers that a browser does not send: %j", async (headers) => {
    expect(await refusal({ url: `${origin}/echo`, headers })).toMatchObject({ status: 400, field: "body.headers" });
    expect((await curl({ url: `${origin}/echo` })).status).toBe(200);
  });

  it("sends any method and body", async () => {
    for (const method of ["POST", "PUT", "PATCH", "DELETE", "OPTIONS"]) {
      expect(
        echoed(await curl({ url: `${origin}/echo`, method, body: "grüße", headers: { "content-type": "text/plain" } })),
      ).toMatchObject({
        method,
        body: "grüße",
        headers: { "content-type": "text/plain" },
      });
    }
    expect(await curl({ url: `${origin}/echo`, method: "HEAD" })).toMatchObject({ status: 200, body: "" });
    expect(await curl({ url: `${origin}/status?is=204` })).toMatchObject({ status: 204, body: "" });
    for (const is of [304, 401, 404, 500]) expect((await curl({ url: `${origin}/status?is=${is}` })).status).toBe(is);
  });

  it("returns decoded bodies as text or base64, and never renders or saves them", async () => {
    expect((await curl({ url: `${origin}/gzip` })).body).toBe("zipped text");
    const whole = await curl({ url: `${origin}/big`, response_encoding: "base64" });
    expect(Buffer.from(whole.body, "base64").equals(big)).toBe(true);
    expect(JSON.parse((await instance.call("GET", "/fs/list_files?path=/home/shoal/Downloads")).text)).toEqual([]);
  });

  it("follows redirects like a browser", async () => {
    expect(
      echoed(await curl({ url: `${origin}/redirect`, method: "POST", body: "a", headers: { "x-own": "1" } })),
    ).toMatchObject({
      method: "GET",
      body: "",
      headers: { "x-own": "1" },
    });
    expect(echoed(await curl({ url: `${origin}/redirect?status=307`, method: "POST", body: "again" }))).toMatchObject({
      method: "POST",
      body: "again",
    });
    const other = origin.replace("127.0.0.1", "localhost");
    const elsewhere = echoed(
      await curl({ url: `${origin}/redirect?to=${other}/echo`, headers: { authorization: "Bearer t", cookie: "a=b" } }),
    );
    expect(elsewhere.headers.authorization).toBeUndefined();
    expect(elsewhere.headers.cookie).toBeUndefined();
    expect(await refusal({ url: `${origin}/loop` })).toMatchObject({
      status: 502,
      code: "bad_gateway",
      net_error: -310,
      net_error_name: "net::ERR_TOO_MANY_REDIRECTS",
    });
  });

  it("shares cookies with the session, in both directions", async () => {
    const result = await curl({ url: `${origin}/login` });
    expect(result.headers["set-cookie"]).toEqual([
      "sid=secret; HttpOnly; SameSite=Strict; Path=/",
      "theme=dark; Path=/; Max-Age=3600",
    ]);
    const socket = await instance.connect();
    const client = cdpClient(socket);
    const jar = async () =>
      (
        (await client.send("Storage.getCookies")).result as {
          cookies: { name: string; value: string; domain: string; httpOnly: boolean; session: boolean }[];
        }
      ).cookies;
    expect(await jar()).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ name: "sid", value: "secret", domain: "127.0.0.1", httpOnly: true, session: true }),
        expect.objectContaining({ name: "theme", value: "dark", domain: "127.0.0.1", session: false }),
      ]),
    );
    await client.send("Storage.setCookies", {
      cookies: [{ name: "page", value: "1", url: origin, sameSite: "Strict", httpOnly: true }],
    });
    expect(
      echoed(await curl({ url: `${origin}/echo` }))
        .headers.cookie?.split("; ")
        .sort(),
    ).toEqual(["hop=1", "page=1", "sid=secret", "theme=dark"]);
    await curl({ url: `${origin}/logout` });
    expect((await jar()).map(({ name }) => name).sort()).toEqual(["hop", "page", "theme"]);
    await client.send("Storage.clearCookies");
    expect(echoed(await curl({ url: `${origin}/echo` })).headers.cookie).toBeUndefined();
    socket.close();
  });

  it("is invisible to clients and changes no page", async () => {
    const socket = await instance.connect();
    const client = cdpClient(socket);
    const seen: string[] = [];
    socket.on("message", (data: Buffer) => {
      seen.push(data.toString());
      const { method, params } = JSON.parse(data.toString()) as { method?: string; params: { sessionId: string } };
      if (method === "Target.attachedToTarget")
        void client.send("Runtime.runIfWaitingForDebugger", {}, params.sessionId);
    });
    await client.send("Target.setDiscoverTargets", { discover: true });
    await client.send("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
    const results = await Promise.all(Array.from({ length: 12 }, () => curl({ url: `${origin}/echo` })));
    expect(results.map(({ status }) => status)).toEqual(Array.from({ length: 12 }, () => 200));
    const { targetInfos } = (await client.send("Target.getTargets")).result as { targetInfos: { type: string }[] };
    expect(targetInfos.filter(({ type }) => type === "page")).toHaveLength(1);
    expect(seen.filter((text) => text.includes('"type":"page"') && text.includes("targetCreated"))).toHaveLength(1);
    socket.close();
    const { text } = await instance.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({ code: "return context.pages().map((each) => each.url())" }),
    );
    expect(JSON.parse(text)).toMatchObject({ result: ["about:blank"] });
  });

  it("reports why no answer arrived", async () => {
    expect(await refusal({ url: "http://127.0.0.1:1/" })).toMatchObject({
      status: 502,
      code: "bad_gateway",
      net_error: -312,
      net_error_name: "net::ERR_UNSAFE_PORT",
    });
    expect(await refusal({ url: `${origin}/never`, timeout_ms: 1000 })).toMatchObject({
      status: 502,
      code: "bad_gateway",
      net_error: -7,
      net_error_name: "net::ERR_TIMED_OUT",
    });
    expect(await refusal({ url: `${origin}/slow`, timeout_ms: 1000 })).toMatchObject({
      status: 502,
      net_error_name: "net::ERR_TIMED_OUT",
    });
    expect(await refusal({ url: origin.replace("http:", "https:") })).toMatchObject({
      status: 502,
      net_error: -107,
      net_error_name: "net::ERR_SSL_PROTOCOL_ERROR",
    });
    expect(await refusal({ url: "ftp://a" })).toMatchObject({ status: 400 });
    expect(await refusal({ url: "http://[" })).toMatchObject({ status: 400 });
    expect((await curl({ url: `${origin}/echo` })).status).toBe(200);
    await eventually(() => slow.size === 0);
  });

  it("streams through /curl/raw", async () => {
    const raw = (method: string, path: string, more = "", body?: string) =>
      instance.call(method, `/curl/raw?url=${encodeURIComponent(`${origin}${path}`)}${more}`, body, {
        "user-agent": "node",
        "x-own": "2",
        ...(body !== undefined && { "content-type": "text/plain" }),
      });
    const posted = await raw("POST", "/echo", "", "raw body");
    expect(posted).toMatchObject({
      status: 200,
      headers: { "content-type": "application/json", "x-many": "one, two" },
    });
    expect(JSON.parse(posted.text)).toMatchObject({
      method: "POST",
      body: "raw body",
      headers: { "content-type": "text/plain", "x-own": "2", "user-agent": expect.stringMatching(/Chrome/) as string },
    });
    expect(await raw("GET", "/gzip")).toMatchObject({ status: 200, text: "zipped text" });
    expect(await raw("GET", "/status?is=404")).toMatchObject({ status: 404 });
    expect((await raw("GET", "/status?is=404")).headers["x-shoal-error"]).toBeUndefined();
    const broken = await raw("GET", "/broken");
    expect(broken).toMatchObject({ status: 502, headers: { "x-shoal-error": "bad_gateway" } });
    expect(JSON.parse(broken.text)).toMatchObject({
      code: "bad_gateway",
      net_error: -104,
      net_error_name: "net::ERR_CONNECTION_FAILED",
    });
    expect(await raw("GET", "/echo", "&timeout_ms=5")).toMatchObject({
      status: 400,
      headers: { "x-shoal-error": "bad_request" },
    });
    expect(await raw("OPTIONS", "/echo")).toMatchObject({
      status: 405,
      headers: { "x-shoal-error": "method_not_allowed" },
    });
    // The head and the first bytes arrive before the end; a client that disconnects ends the request.
    const first = await new Promise<string>((resolve, reject) => {
      const sent = httpRequest(
        { socketPath: instance.config.listen_path, path: `/curl/raw?url=${encodeURIComponent(`${origin}/slow`)}` },
        (response) => {
          let text = "";
          response.on("data", (chunk: Buffer) => {
            text += chunk.toString();
            if (text !== "begun") return;
            resolve(text);
            sent.destroy();
          });
          response.on("error", () => undefined);
        },
      );
      sent.on("error", reject).end();
    });
    expect(first).toBe("begun");
    await eventually(() => slow.size === 0);
    expect((await curl({ url: `${origin}/echo` })).status).toBe(200);
  });

  it("answers after more requests with odd heads than run at once", async () => {
    const raw = (path: string) =>
      instance.call("GET", `/curl/raw?timeout_ms=20000&url=${encodeURIComponent(`${origin}${path}`)}`);
    for (let count = 0; count < 7; count += 1) {
      const { headers, status, text } = await raw("/odd");
      expect([status, text]).toEqual([200, "odd"]);
      expect(Buffer.from(String(headers["x-file"]), "latin1").toString()).toBe('"中文.txt"');
    }
    for (let count = 0; count < 7; count += 1) await raw("/odd?status=42");
    expect((await curl({ url: `${origin}/echo` })).status).toBe(200);
  });

  it("fails with a clear error when the browser ends, and works in the next browser", async () => {
    await using other = await runInstance({ chromium });
    await other.assign({ timeout_seconds: 300 });
    const pending = other.call("POST", "/curl", JSON.stringify({ url: `${origin}/never` }));
    await eventually(() => slow.size > 0);
    killBrowser(other.config.session_dir);
    const { status, text } = await pending;
    expect([status, (JSON.parse(text) as { code: string }).code]).toEqual([503, "browser_not_running"]);
    await eventually(
      async () => (await other.call("POST", "/curl", JSON.stringify({ url: `${origin}/echo` }))).status === 200,
    );
    const cut = other.call("POST", "/curl", JSON.stringify({ url: `${origin}/never` }));
    await eventually(() => slow.size > 0);
    await other.call("POST", "/_instance/stop");
    expect((await cut).status).toBe(503);
    await other.exited;
    await eventually(() => other.browserPids().length === 0);
  });
});
