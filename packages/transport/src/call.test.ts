import { getHealth, deleteProfile, getProfile, listBrowsers, readFile, watchEvents } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import {
  ApiError,
  ContractError,
  createTransport,
  isShoalError,
  TimeoutError,
  type TransportOptions,
} from "./index.ts";
import { failureOf, profile, reply, serve, type TestServer } from "./node/testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const params = { id_or_name: "p1" };
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey, ...options });
const quick = { "retry-after-ms": "1" };

describe("request", () => {
  it("sends key, project and headers, and keeps the path of baseUrl", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    const transport = make(server, {
      baseUrl: `${server.baseUrl}/base/`,
      project: "team a",
      headers: { "x-mine": "1" },
    });
    await transport.call(getProfile, { params: { id_or_name: "a/b ü?" } }, { headers: { "x-mine": "2" } });
    expect(server.seen[0]).toMatchObject({
      method: "GET",
      url: "/base/profiles/a%2Fb%20%C3%BC%3F",
      headers: {
        authorization: `Bearer ${apiKey}`,
        "x-shoal-project": "team a",
        "x-mine": "2",
        accept: "application/json",
      },
    });
    expect(server.seen[0]?.headers).not.toHaveProperty("idempotency-key");
  });

  it("sends no key to operations without authentication", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, { status: "ok", version: "1" });
    });
    expect(await make(server).call(getHealth)).toEqual({ status: "ok", version: "1" });
    expect(server.seen[0]?.headers).not.toHaveProperty("authorization");
  });

  it("encodes queries for the wire", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, []);
    });
    await make(server).call(listBrowsers, {
      query: { limit: 5, status: "all", query: "a b&c", tags: { team: "back end", "x/y": "1" } },
    });
    expect(server.seen[0]?.url).toBe(
      "/browsers?limit=5&status=all&query=a%20b%26c&tags%5Bteam%5D=back%20end&tags%5Bx%2Fy%5D=1",
    );
  });

  it.each([
    ["", "must not be empty"],
    [".", 'must not be "."'],
    ["..", 'must not be ".."'],
    ["a\nb", "must not contain control characters"],
    ["a\u0000", "must not contain control characters"],
    ["\ud800", "must not contain control characters or lone surrogates"],
  ])("rejects the path parameter %j before sending it", async (value, problem) => {
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    const error = await failureOf(make(server).call(getProfile, { params: { id_or_name: value } }));
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toContain(`profiles.get: id_or_name ${problem}`);
    expect(server.seen).toHaveLength(0);
  });

  it.each(["not an address", "ftp://host", "http://user:p4ss@host", "http://host/?a=b"])(
    "rejects the base URL %j without repeating it",
    (baseUrl) => {
      expect(() => createTransport({ baseUrl, apiKey })).toThrow(/^baseUrl must/);
      expect(() => createTransport({ baseUrl, apiKey })).not.toThrow(/p4ss/);
    },
  );

  it("rejects an invalid key and an invalid header without repeating them", async () => {
    expect(() => createTransport({ baseUrl: "http://host", apiKey: `${apiKey}\n` })).toThrow(/apiKey/);
    await using server = await serve((_, response) => {
      reply(response, 200, profile);
    });
    const error = await failureOf(
      make(server).call(getProfile, { params }, { headers: { "x-secret": "hidden\nvalue" } }),
    );
    expect(String(error)).toContain("x-secret");
    expect(String(error)).not.toContain("hidden");
  });

  it("requires stream and download for their operations", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, {});
    });
    const transport = make(server);
    expect(() => transport.stream(getProfile, { params })).toThrow("use call instead of stream");
    expect(String(await failureOf(transport.download(getProfile, { params })))).toContain(
      "use call instead of download",
    );
    expect(String(await failureOf(transport.call(readFile, { params: { id: "b" }, query: { path: "/x" } })))).toContain(
      "use download instead of call",
    );
    expect(String(await failureOf(transport.call(watchEvents, { params: { id: "b", watch_id: "w" } })))).toContain(
      "use stream instead of call",
    );
    expect(server.seen).toHaveLength(0);
  });
});

describe("answer", () => {
  const answering = (status: number, body: string, headers: Record<string, string> = {}) =>
    serve((_, response) => {
      response.writeHead(status, headers);
      response.end(body);
    });

  it("is the parsed JSON, including fields of a newer service", async () => {
    const newer = { ...profile, from_the_future: { deep: [1] } };
    await using server = await serve((_, response) => {
      reply(response, 200, newer);
    });
    expect(await make(server).call(getProfile, { params })).toEqual(newer);
  });

  it("is undefined for 204", async () => {
    await using server = await answering(204, "");
    await expect(make(server).call(deleteProfile, { params })).resolves.toBeUndefined();
  });

  it.each([
    ["truncated JSON", "application/json", '{"id": "p1", "na', "expected JSON, got something else (application/json)"],
    ["a page", "text/html", "<html>secret page</html>", "expected JSON, got something else (text/html)"],
    ["nothing", "application/json", "", "expected JSON, got an empty body"],
  ])("that is %s is a ContractError", async (_, type, body, problem) => {
    await using server = await answering(200, body, { "content-type": type, "x-request-id": "r7" });
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ContractError.isInstance(error) && error).toMatchObject({
      path: "body",
      requestId: "r7",
      code: "contract_mismatch",
    });
    expect(String(error)).toContain(problem);
    expect(String(error)).not.toContain("secret page");
    expect(server.seen).toHaveLength(1);
  });

  it("is parsed as JSON with any content type", async () => {
    await using server = await answering(200, JSON.stringify(profile), { "content-type": "text/plain" });
    expect(await make(server).call(getProfile, { params })).toEqual(profile);
  });

  it("that does not fit the schema names the field, not its value", async () => {
    await using server = await serve((_, response) => {
      reply(response, 200, { ...profile, created_at: "yesterday, with a secret" });
    });
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ContractError.isInstance(error) && error.path).toBe("body.created_at");
    expect(String(error)).toContain("expected the format datetime");
    expect(String(error)).not.toContain("secret");
  });

  it('that does not fit the schema passes with validate: "warn" or "off"', async () => {
    const odd = { ...profile, id: 7 };
    await using server = await serve((_, response) => {
      reply(response, 200, odd);
    });
    const warnings: string[] = [];
    const logger = { debug: () => undefined, warn: (_: object, message: string) => warnings.push(message) };
    expect(await make(server, { validate: "warn", logger }).call(getProfile, { params })).toEqual(odd);
    expect(warnings).toEqual([expect.stringContaining("body.id: expected string, got a number")]);
    expect(await make(server, { logger }).call(getProfile, { params }, { validate: "off" })).toEqual(odd);
    expect(warnings).toHaveLength(1);
  });
});

describe("error", () => {
  it("has status, code, message and fields of the service's response", async () => {
    await using server = await serve((_, response) => {
      reply(response, 404, {
        code: "not_found",
        message: "Profile p1 was not found.",
        details: [{ code: "x", message: "y" }],
        existing_id: "p0",
        left: 0,
        more: null,
        list: [1],
      });
    });
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error).toMatchObject({
      name: "ApiError",
      code: "not_found",
      status: 404,
      requestId: "req_test",
      retryable: false,
      message: "Profile p1 was not found.",
      details: [{ code: "x", message: "y" }],
    });
    expect(ApiError.isInstance(error) && error.fields).toEqual({ existing_id: "p0", left: 0, more: null });
  });

  it("of a proxy reports its status and omits its page", async () => {
    await using server = await serve((_, response) => {
      response.writeHead(403, { "content-type": "text/html" }).end("<html>private page</html>");
    });
    const error = await failureOf(make(server).call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error.code).toBe("http_403");
    expect(String(error)).toContain("status 403");
    expect(String(error)).not.toContain("private");
  });

  it("with an endless or broken body still has its status", async () => {
    await using server = await serve((_, response, count) => {
      response.writeHead(400);
      if (count === 1) {
        const more = () => {
          while (response.write("x".repeat(65_536)));
        };
        response.on("drain", more);
        more();
      } else {
        response.write("{");
        setImmediate(() => {
          response.destroy();
        });
      }
    });
    for (let count = 0; count < 2; count++) {
      const error = await failureOf(make(server).call(getProfile, { params }));
      expect(ApiError.isInstance(error) && error.status).toBe(400);
    }
  });

  it("is thrown for a redirect, which is not followed, so that the key is not sent elsewhere", async () => {
    await using elsewhere = await serve((_, response) => {
      reply(response, 200, profile);
    });
    await using server = await serve((_, response) => {
      response.writeHead(307, { location: `${elsewhere.baseUrl}/there?token=s3cret` }).end();
    });
    const error = await failureOf(make(server, { project: "p" }).call(getProfile, { params }));
    expect(ApiError.isInstance(error) && error).toMatchObject({ code: "redirected", status: 307 });
    expect(String(error)).toContain(`to ${elsewhere.baseUrl}/there.`);
    expect(String(error)).not.toContain("s3cret");
    expect(elsewhere.seen).toHaveLength(0);
    expect(server.seen).toHaveLength(1);
  });

  it("is recognised across copies of the package", () => {
    expect(ApiError.isInstance({ [Symbol.for("shoal.error.ApiError")]: true })).toBe(true);
    expect(ApiError.isInstance(new Error("other"))).toBe(false);
    expect(isShoalError(new TimeoutError("late", 1))).toBe(true);
    expect(isShoalError(undefined)).toBe(false);
  });
});

describe("fetch", () => {
  it("returns the raw response after the retries", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, count < 3 ? 503 : 404, { code: "not_found", message: "gone" }, quick);
    });
    const response = await make(server).fetch(getProfile, { params });
    expect(response.status).toBe(404);
    expect(await response.json()).toEqual({ code: "not_found", message: "gone" });
    expect(server.seen).toHaveLength(3);
  });
});
