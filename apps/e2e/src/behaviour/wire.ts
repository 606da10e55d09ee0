import { describe, expect, it } from "vitest";
import { errorIn, type ServiceUnderTest } from "./open-service.ts";

const noKey = { authorization: "" };

/** Requests that every service refuses in any state. */
const refusals: readonly {
  readonly what: string;
  readonly request: readonly [method: string, path: string, body?: unknown, headers?: Readonly<Record<string, string>>];
  readonly answer: readonly [status: number, code: string];
}[] = [
  { what: "no key", request: ["GET", "/profiles", undefined, noKey], answer: [401, "unauthorized"] },
  {
    what: "a key of no form",
    request: ["GET", "/profiles", undefined, { authorization: "Bearer nonsense" }],
    answer: [401, "unauthorized"],
  },
  {
    what: "an unknown key",
    request: ["GET", "/profiles", undefined, { authorization: `Bearer sk_shoal_${"x".repeat(43)}` }],
    answer: [401, "unauthorized"],
  },
  {
    what: "another scheme",
    request: ["GET", "/profiles", undefined, { authorization: "Basic eDp5" }],
    answer: [401, "unauthorized"],
  },
  {
    what: "no key, with a body that does not fit",
    request: ["POST", "/profiles", { nam: 1 }, noKey],
    answer: [401, "unauthorized"],
  },
  {
    what: "an unknown project",
    request: ["GET", "/profiles", undefined, { "x-shoal-project": "nowhere" }],
    answer: [404, "project_not_found"],
  },
  { what: "an unknown path", request: ["GET", "/nowhere"], answer: [404, "not_found"] },
  { what: "a method that the path does not have", request: ["PUT", "/profiles"], answer: [405, "method_not_allowed"] },
  { what: "a broken escape in a path", request: ["GET", "/profiles/%zz"], answer: [400, "bad_request"] },
  { what: "a field of another type", request: ["POST", "/profiles", { name: 1 }], answer: [400, "bad_request"] },
  {
    what: "a name that is too long",
    request: ["POST", "/profiles", { name: "n".repeat(256) }],
    answer: [400, "bad_request"],
  },
  { what: "broken JSON", request: ["POST", "/profiles", '{"name":'], answer: [400, "bad_request"] },
  {
    what: "another content type",
    request: ["POST", "/profiles", "name=a", { "content-type": "application/x-www-form-urlencoded" }],
    answer: [415, "unsupported_media_type"],
  },
  {
    what: "a body above the limit",
    request: ["POST", "/profiles", { name: "n".repeat(1_100_000) }],
    answer: [413, "payload_too_large"],
  },
  { what: "a limit of 0", request: ["GET", "/profiles?limit=0"], answer: [400, "bad_request"] },
  { what: "a limit of 101", request: ["GET", "/profiles?limit=101"], answer: [400, "bad_request"] },
  { what: "an offset below 0", request: ["GET", "/profiles?offset=-1"], answer: [400, "bad_request"] },
  { what: "a parameter given twice", request: ["GET", "/profiles?limit=1&limit=2"], answer: [400, "bad_request"] },
  {
    what: "files of a session that is not there",
    request: ["GET", "/browsers/nosuchsession00000000000/fs/list_files"],
    answer: [404, "not_found"],
  },
];

export function describeWire(test: ServiceUnderTest): void {
  describe("every request", () => {
    it.each(refusals)(
      "is refused for $what",
      async ({ request: [method, path, body, headers = {}], answer: [status, code] }) => {
        const { authorization } = headers;
        const answer = await test.send(method, path, { body, headers });
        expect(errorIn(answer)).toEqual({ status, code });
        expect(answer.body).toMatchObject({ message: expect.stringMatching(/./) as unknown });
        expect(answer.headers.get("x-request-id")).toMatch(/^[\w.-]{1,64}$/);
        expect(answer.headers.get("www-authenticate")).toBe(
          status === 401 && authorization !== undefined ? "Bearer" : null,
        );
      },
    );

    it("names every invalid field in its error", async () => {
      const { body } = await test.send("POST", "/browsers", {
        body: { timeout_seconds: 1, viewport: { width: 0, height: 10 }, tags: { "a b!": "x" } },
      });
      const { details } = body as { details: { message: string }[] };
      expect(details.map(({ message }) => message.split(":")[0]).sort()).toEqual([
        'body.tags["a b!"]',
        "body.timeout_seconds",
        "body.viewport.width",
      ]);
    });

    it("may contain unknown fields and parameters, which the answer lists", async () => {
      const made = await test.send("POST", "/profiles", { body: { name: "extra", colour: "red", nmae: 1 } });
      expect([made.status, made.headers.get("x-shoal-ignored-fields")]).toEqual([
        201,
        "body.colour, body.nmae (did you mean name?)",
      ]);
      const listed = await test.send("GET", "/profiles?colour=red");
      expect([listed.status, listed.headers.get("x-shoal-ignored-fields")]).toEqual([200, "query.colour"]);
      await test.send("DELETE", "/profiles/extra");
    });

    it("keeps its id", async () => {
      for (const path of ["/profiles", "/nowhere", "/health"])
        expect(
          (await test.send("GET", path, { headers: { "x-request-id": "my.id-1" } })).headers.get("x-request-id"),
        ).toBe("my.id-1");
      expect(
        (await test.send("GET", "/profiles", { headers: { "x-request-id": "not an id" } })).headers.get("x-request-id"),
      ).not.toBe("not an id");
    });

    it("names the methods of a path", async () => {
      const { headers } = await test.send("PUT", "/profiles");
      expect(headers.get("allow")?.split(", ").sort()).toEqual(["GET", "HEAD", "POST"]);
    });

    it("may be a HEAD if a GET is possible", async () => {
      const { body, headers, status } = await test.send("HEAD", "/profiles");
      expect([status, body, headers.get("content-type")]).toEqual([200, undefined, "application/json; charset=utf-8"]);
      expect((await test.send("HEAD", "/profiles/nowhere")).status).toBe(404);
    });

    it("needs no key for health and the OpenAPI document", async () => {
      expect((await test.send("GET", "/health", { headers: noKey })).body).toMatchObject({ status: "ok" });
      expect((await test.send("GET", "/ready", { headers: noKey })).body).toMatchObject({ status: "ready" });
      expect((await test.send("GET", "/openapi.json", { headers: noKey })).body).toMatchObject({ openapi: "3.1.0" });
    });
  });

  describe("a repeated POST", () => {
    const post = (key: string, body: unknown) =>
      test.send("POST", "/profiles", { body, headers: { "idempotency-key": key } });

    it("returns the first answer again", async () => {
      const name = test.unique("idem");
      const key = test.unique("key");
      const first = await post(key, { name });
      expect(await post(key, { name })).toMatchObject({ status: 201, body: first.body });
      expect((await test.shoal.profiles.list({ name })).items).toHaveLength(1);
      expect(errorIn(await post(key, { name: test.unique("idem") }))).toEqual({
        status: 422,
        code: "idempotency_conflict",
      });
    });

    it("returns a final refusal again, even when it would now succeed", async () => {
      const name = test.unique("idem");
      const { id } = await test.shoal.profiles.create({ name });
      const key = test.unique("key");
      expect(errorIn(await post(key, { name }))).toEqual({ status: 409, code: "name_taken" });
      await test.shoal.profiles.delete(id);
      expect(errorIn(await post(key, { name }))).toEqual({ status: 409, code: "name_taken" });
      expect((await post(test.unique("key"), { name })).status).toBe(201);
    });

    it("is one request when both arrive at once", async () => {
      const name = test.unique("idem");
      const key = test.unique("key");
      const answers = await Promise.all([post(key, { name }), post(key, { name }), post(key, { name })]);
      expect(answers.map(({ status }) => status)).toEqual([201, 201, 201]);
      expect(new Set(answers.map(({ body }) => JSON.stringify(body))).size).toBe(1);
    });

    it("requires a key of printable characters", async () => {
      expect(errorIn(await post("k".repeat(256), { name: test.unique("idem") }))).toEqual({
        status: 400,
        code: "bad_request",
      });
    });

    it("is a different request when another API key sends it", async () => {
      const { key: other } = await test.shoal.apiKeys.create({ name: "other" });
      const key = test.unique("key");
      const name = test.unique("idem");
      await post(key, { name });
      const answer = await test.send("POST", "/profiles", {
        body: { name },
        headers: { "idempotency-key": key, authorization: `Bearer ${other}` },
      });
      expect(errorIn(answer)).toEqual({ status: 409, code: "name_taken" });
    });
  });
}
