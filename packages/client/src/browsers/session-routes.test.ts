import type { Browser } from "@shoal/schemas";
import { Readable } from "node:stream";
import { inspect } from "node:util";
import { describe, expect, it } from "vitest";
import { ApiError, ConnectionError, Shoal } from "../index.ts";
import { startPartialService, type PartialService } from "../node/testing/partial-service.ts";

const apiKey = "sk_secret_0123456789";
const token = "session-token-0123456789";
const text = async ({ stream }: { stream: ReadableStream }) => new Response(stream).text();

const sessionAt = (baseUrl: string | undefined, more: Partial<Browser> = {}): Browser => ({
  session_id: "b1",
  created_at: "2026-01-31T12:00:00.000Z",
  cdp_ws_url: `ws://127.0.0.1:1/cdp?jwt=${token}`,
  webdriver_ws_url: "ws://127.0.0.1:1/webdriver",
  headless: true,
  stealth: false,
  timeout_seconds: 60,
  ...(baseUrl !== undefined && { base_url: baseUrl }),
  ...more,
});

const handlers = (who: string) => ({
  readFile: () => ({ stream: Readable.from([Buffer.from(who)]) }),
  writeFile: async ({ body }: { body: Readable }) => {
    await body.toArray();
  },
  curl: ({ body: { url } }: { body: { url: string } }) => ({
    status: url.includes("refuses") ? 999 : 200,
    headers: { by: [who] },
    body: url.includes("refuses") ? Buffer.from("no").toString("base64") : "",
    body_encoding: "utf8",
    duration_ms: 1,
  }),
  streamTelemetry: () => Readable.from([{ id: "1", data: { seq: 1, event: { type: `from_${who}` } as never } }]),
});

async function start(baseUrl?: string | null, more?: Partial<Browser>) {
  const atInstance = handlers("instance");
  const atService = handlers("service");
  const instance = await startPartialService(atInstance, {
    stripPrefix: "/browsers/{id}",
    otherwise(request, response) {
      const url = new URL(request.url ?? "", "http://x");
      if (url.searchParams.get("jwt") !== token) {
        response.writeHead(401, { "content-type": "application/json" }).end('{"code":"unauthorized","message":"no"}');
        return true;
      }
      if (url.pathname !== "/curl/raw") {
        // The router rejects unknown parameters; a real instance removes its token first.
        url.searchParams.delete("jwt");
        request.url = url.pathname + url.search;
        return false;
      }
      if (url.searchParams.get("url")?.includes("unreachable") === true) {
        response
          .writeHead(502, { "x-shoal-error": "bad_gateway", "content-type": "application/json" })
          .end(
            '{"code":"bad_gateway","message":"no answer","net_error":-105,"net_error_name":"net::ERR_NAME_NOT_RESOLVED"}',
          );
        return true;
      }
      response.writeHead(url.searchParams.get("url")?.includes("refuses") === true ? 999 : 404, {
        "x-asked": `${request.method ?? ""} ${url.searchParams.get("url") ?? ""} ${url.searchParams.get("timeout_ms") ?? ""}`,
        "x-body-type": request.headers["content-type"] ?? "",
      });
      request.pipe(response);
      return true;
    },
  });
  const session = sessionAt(baseUrl === null ? undefined : (baseUrl ?? instance.baseUrl), more);
  const service = await startPartialService({
    ...atService,
    createBrowser: () => session,
    getBrowser: () => session,
    listBrowsers: () => ({ items: [session], hasMore: false, nextOffset: undefined }),
    deleteBrowser: () => undefined,
  });
  return {
    instance,
    service,
    async [Symbol.asyncDispose]() {
      await instance[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
    },
  };
}

const count = ({ requests }: PartialService) => requests.length;

describe("a session with a base_url", () => {
  it("sends files, telemetry and requests through the browser directly to the instance", async () => {
    await using parts = await start();
    const urls: string[] = [];
    const hooks = { onRequest: ({ url }: { url: string }) => void urls.push(url) };
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl, project: "p", hooks });
    await browsers.create();
    expect(await text(await browsers.fs.readFile("b1", { path: "/a" }))).toBe("instance");
    await browsers.fs.writeFile(
      "b1",
      new ReadableStream({
        start: (controller) => {
          controller.close();
        },
      }),
      { path: "/a" },
    );
    expect((await browsers.curl("b1", { url: "https://a.example" })).headers).toEqual({ by: ["instance"] });
    for await (const { event } of browsers.telemetry.stream("b1", { replay: "all" }))
      expect(event.type).toBe("from_instance");
    expect(count(parts.service)).toBe(1);
    expect(parts.instance.requests.map(({ line }) => line)).toEqual([
      `GET /fs/read_file?path=%2Fa&jwt=${token}`,
      `PUT /fs/write_file?path=%2Fa&jwt=${token}`,
      `POST /curl?jwt=${token}`,
      `GET /telemetry/stream?replay=all&jwt=${token}`,
    ]);
    for (const { headers } of parts.instance.requests)
      expect([headers.authorization, headers["x-shoal-project"]]).toEqual([undefined, undefined]);
    expect(urls).toHaveLength(5);
    expect(urls.join()).not.toContain(token);
  });

  it.each(["get", "list"] as const)("is known after browsers.%s, and forgotten when it is deleted", async (way) => {
    await using parts = await start();
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl });
    const who = async () => text(await browsers.fs.readFile("b1", { path: "/a" }));
    expect(await who()).toBe("service");
    await (way === "get" ? browsers.get("b1") : browsers.list());
    expect(await who()).toBe("instance");
    await browsers.delete("b1");
    expect(await who()).toBe("service");
  });

  it("uses only the service with direct: false", async () => {
    await using parts = await start();
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl, direct: false });
    await browsers.create();
    expect(await text(await browsers.fs.readFile("b1", { path: "/a" }))).toBe("service");
    expect(count(parts.instance)).toBe(0);
  });

  it.each<[string, string | null | undefined, Partial<Browser>]>([
    ["has an invalid base_url", "not an address", {}],
    ["has no base_url", null, {}],
    ["has ended", undefined, { deleted_at: "2026-01-31T12:00:00.000Z" }],
    ["has no token", undefined, { cdp_ws_url: "ws://127.0.0.1:1/cdp" }],
  ])("goes through the service when the session %s", async (_, baseUrl, more) => {
    await using parts = await start(baseUrl, more);
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl });
    await browsers.create();
    expect(await text(await browsers.fs.readFile("b1", { path: "/a" }))).toBe("service");
  });

  it("goes through the service when the instance is unreachable or rejects the token, with one idempotency key", async () => {
    for (const [baseUrl, cdp_ws_url] of [
      ["http://127.0.0.1:1", undefined],
      [undefined, "ws://127.0.0.1:1/cdp?jwt=old"],
    ] as const) {
      await using parts = await start(baseUrl, cdp_ws_url === undefined ? {} : { cdp_ws_url });
      const keys: (string | null)[] = [];
      const hooks = {
        onRequest: ({ headers }: { headers: Headers }) => void keys.push(headers.get("idempotency-key")),
      };
      const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl, maxRetries: 0, hooks });
      await browsers.create();
      keys.length = 0;
      expect((await browsers.curl("b1", { url: "https://a.example" })).headers).toEqual({ by: ["service"] });
      expect(keys).toHaveLength(2);
      expect(new Set(keys).size).toBe(1);
      expect((await browsers.curl("b1", { url: "https://a.example" })).headers).toEqual({ by: ["service"] });
      expect(keys).toHaveLength(3);
    }
  });

  it("streams events through the service when the instance is unreachable or rejects the token", async () => {
    for (const [baseUrl, more] of [
      ["http://127.0.0.1:1", {}],
      [undefined, { cdp_ws_url: "ws://127.0.0.1:1/cdp?jwt=old" }],
    ] as const) {
      await using parts = await start(baseUrl, more);
      const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl, maxRetries: 0 });
      await browsers.create();
      const types: string[] = [];
      for await (const { event } of browsers.telemetry.stream("b1", { replay: "all" })) types.push(event.type);
      expect(types).toEqual(["from_service"]);
      expect(parts.service.requests.at(-1)?.line).toBe("GET /browsers/b1/telemetry/stream?replay=all");
      expect(await text(await browsers.fs.readFile("b1", { path: "/a" }))).toBe("service");
      const asked = count(parts.instance);
      expect(asked).toBe(baseUrl === undefined ? 1 : 0);
    }
  });

  it("sends a POST without an idempotency key once, unless the instance rejected the token", async () => {
    const once = { idempotencyKey: false } as const;
    let executed = 0;
    await using instance = await startPartialService(
      {},
      {
        otherwise(request) {
          executed += 1;
          request.socket.destroy();
          return true;
        },
      },
    );
    await using parts = await start(instance.baseUrl);
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl });
    await browsers.create();
    await expect(browsers.curl("b1", { url: "https://a.example", method: "POST" }, once)).rejects.toSatisfy((error) =>
      ConnectionError.isInstance(error),
    );
    expect([executed, count(parts.service)]).toEqual([1, 1]);
    expect((await browsers.curl("b1", { url: "https://a.example" }, once)).headers).toEqual({ by: ["service"] });
    await using other = await start(undefined, { cdp_ws_url: "ws://127.0.0.1:1/cdp?jwt=old" });
    const { browsers: refused } = new Shoal({ apiKey, baseUrl: other.service.baseUrl });
    await refused.create();
    expect((await refused.curl("b1", { url: "https://a.example" }, once)).headers).toEqual({ by: ["service"] });
  });

  it("does not send a stream twice", async () => {
    await using parts = await start("http://127.0.0.1:1");
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl, maxRetries: 0 });
    await browsers.create();
    await expect(
      browsers.fs.writeFile(
        "b1",
        new ReadableStream({
          start: (controller) => {
            controller.close();
          },
        }),
        { path: "/a" },
      ),
    ).rejects.toSatisfy((error) => ConnectionError.isInstance(error));
    expect(count(parts.service)).toBe(1);
  });

  it("streams the site's own response from browser.fetch", async () => {
    await using parts = await start();
    const browser = await new Shoal({ apiKey, baseUrl: parts.service.baseUrl }).browsers.create();
    const bytes = new Uint8Array([0, 255, 254]);
    const response = await browser.fetch("https://a.example/x?y=1", {
      method: "PUT",
      body: bytes,
      headers: { "Content-Type": "a/b" },
      timeoutMs: 60_000,
    });
    expect([
      response.status,
      response.url,
      response.headers.get("x-asked"),
      response.headers.get("x-body-type"),
    ]).toEqual([404, "https://a.example/x?y=1", "PUT https://a.example/x?y=1 60000", "a/b"]);
    expect(new Uint8Array(await response.arrayBuffer())).toEqual(bytes);
    const streamed = await browser.fetch("https://a.example/", {
      method: "POST",
      body: new Blob(["a stream"]).stream(),
    });
    expect(await streamed.text()).toBe("a stream");
    expect(parts.instance.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
    expect(JSON.stringify(browser)).not.toContain("fetch");
    // The instance would answer HEAD itself.
    expect((await browser.fetch("https://a.example/", { method: "HEAD" })).headers.get("by")).toBe("instance");
    expect(parts.instance.requests.at(-1)?.line).toBe(`POST /curl?jwt=${token}`);
  });

  it("returns answers of sites whose status is not of HTTP", async () => {
    await using parts = await start();
    const browser = await new Shoal({ apiKey, baseUrl: parts.service.baseUrl }).browsers.create();
    const seen = async (response: Response) => [response.status, response.ok, response.url, await response.text()];
    const url = "https://refuses.example/";
    expect(await seen(await browser.fetch(url, { method: "POST", body: "no" }))).toEqual([999, false, url, "no"]);
    // Through the service, as HEAD always is.
    expect(await seen(await browser.fetch(url, { method: "HEAD" }))).toEqual([999, false, url, "no"]);
  });

  it("distinguishes an error of the instance from a response of the site", async () => {
    await using parts = await start();
    const browser = await new Shoal({ apiKey, baseUrl: parts.service.baseUrl }).browsers.create();
    const error: unknown = await browser.fetch("https://unreachable.example/").catch((reason: unknown) => reason);
    expect(ApiError.isInstance(error) && [error.status, error.code, error.message, error.fields]).toEqual([
      502,
      "bad_gateway",
      "no answer",
      { net_error: -105, net_error_name: "net::ERR_NAME_NOT_RESOLVED" },
    ]);
  });

  it("sends browser.fetch through the service when the instance is unreachable", async () => {
    await using parts = await start("http://127.0.0.1:1");
    const { browsers } = new Shoal({ apiKey, baseUrl: parts.service.baseUrl });
    await browsers.create();
    await expect(browsers.fetch("b1", "https://a.example/", { method: "POST", body: "a" })).rejects.toSatisfy((error) =>
      ConnectionError.isInstance(error),
    );
    await browsers.create();
    expect((await browsers.fetch("b1", "https://a.example/")).headers.get("by")).toBe("service");
    const { browsers: leaky } = new Shoal({
      apiKey,
      baseUrl: parts.service.baseUrl,
      maxRetries: 0,
      fetch: (request) =>
        request.url.includes(":1/") ? Promise.reject(new TypeError(`no way to ${request.url}`)) : fetch(request),
    });
    await leaky.create();
    const errors = [
      await leaky.fetch("b1", "https://a.example/", { method: "POST" }).catch((reason: unknown) => reason),
    ];
    await leaky.create();
    errors.push(
      await leaky.fs
        .writeFile(
          "b1",
          new ReadableStream({
            start: (controller) => {
              controller.close();
            },
          }),
          { path: "/a" },
        )
        .catch((reason: unknown) => reason),
    );
    for (const error of errors) {
      expect(ConnectionError.isInstance(error) && error.message).toContain("no way to");
      expect(inspect(error, { depth: 9 })).not.toContain(token);
    }
    const reason = new Error("enough");
    await expect(browsers.fetch("b1", "https://a.example/", { signal: AbortSignal.abort(reason) })).rejects.toBe(
      reason,
    );
  });
});
