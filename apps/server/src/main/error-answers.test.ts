import { ErrorBody, errorCodes, Browser } from "@shoal/schemas";
import { afterAll, beforeAll, expect, it } from "vitest";
import { startTestServer, type TestRequest, type TestServer } from "../testing/test-server.ts";
import { sessionRow } from "../testing/session-row.ts";

let server: TestServer;
let other: { id: string; key: string };
let crowded: { id: string; key: string };
beforeAll(async () => {
  server = await startTestServer({ max_sessions: 1 });
  other = await server.addProject("other");
  crowded = await server.addProject("crowded");
  expect(
    (await server.request("PATCH", `/org/projects/${crowded.id}/limits`, { body: { max_concurrent_sessions: 1 } }))
      .status,
  ).toBe(200);
  // On another server, so that nothing ends it and it counts for the project only.
  await server.database.query
    .insertInto("sessions")
    .values(
      sessionRow({
        id: "elsewhere",
        project_id: crowded.id,
        name: "busy",
      }),
    )
    .execute();
  await server.request("POST", "/profiles", { body: { name: "taken" } });
  await server.request("POST", "/profiles", { body: { name: "first" }, headers: { "idempotency-key": "used" } });
});
afterAll(() => server.close());

interface Refusal {
  readonly what: string;
  readonly code: string;
  readonly target: string;
  readonly request: () => TestRequest;
  readonly headers?: Readonly<Record<string, string | RegExp>>;
}

/** One request for each status and code of a refusal. */
const refusals: readonly Refusal[] = [
  {
    what: "400 for a field that does not fit",
    code: "bad_request",
    target: "POST /profiles",
    request: () => ({ body: { name: 7 } }),
  },
  {
    what: "400 for a parameter that does not fit",
    code: "bad_request",
    target: "GET /profiles?limit=0",
    request: () => ({}),
  },
  { what: "400 for malformed JSON", code: "bad_request", target: "POST /profiles", request: () => ({ body: "{" }) },
  { what: "400 for a malformed path", code: "bad_request", target: "GET /profiles/%E0%A4%A", request: () => ({}) },
  {
    what: "401 without a key",
    code: "unauthorized",
    target: "GET /profiles",
    request: () => ({ key: null }),
    headers: { "www-authenticate": "Bearer" },
  },
  {
    what: "401 for another scheme",
    code: "unauthorized",
    target: "GET /profiles",
    request: () => ({ key: null, headers: { authorization: "Basic eDp5" } }),
    headers: { "www-authenticate": "Bearer" },
  },
  {
    what: "401 for a key that there is not",
    code: "unauthorized",
    target: "GET /profiles",
    request: () => ({ key: `sk_shoal_${"y".repeat(43)}` }),
    headers: { "www-authenticate": "Bearer" },
  },
  {
    what: "403 for another project than the key's",
    code: "forbidden",
    target: "GET /profiles",
    request: () => ({ key: other.key, headers: { "x-shoal-project": crowded.id } }),
  },
  { what: "404 for an object", code: "not_found", target: "GET /profiles/nobody", request: () => ({}) },
  {
    what: "404 for a project",
    code: "project_not_found",
    target: "GET /profiles",
    request: () => ({ headers: { "x-shoal-project": "nowhere" } }),
  },
  { what: "404 for a path", code: "not_found", target: "GET /nowhere", request: () => ({}) },
  {
    what: "405 for a method",
    code: "method_not_allowed",
    target: "PUT /profiles",
    request: () => ({}),
    headers: { allow: /GET.*POST|POST.*GET/ },
  },
  {
    what: "409 for a name",
    code: "name_taken",
    target: "POST /profiles",
    request: () => ({ body: { name: "taken" } }),
    headers: { "x-should-retry": "false" },
  },
  {
    what: "413 for a large body",
    code: "payload_too_large",
    target: "POST /profiles",
    request: () => ({ body: `"${"x".repeat(1024 * 1024)}"` }),
  },
  {
    what: "415 for a media type",
    code: "unsupported_media_type",
    target: "POST /profiles",
    request: () => ({ body: "{}", headers: { "content-type": "text/plain" } }),
  },
  {
    what: "422 for an idempotency key that was used otherwise",
    code: "idempotency_conflict",
    target: "POST /profiles",
    request: () => ({ body: { name: "second" }, headers: { "idempotency-key": "used" } }),
  },
  {
    what: "429 for the sessions of a project",
    code: "too_many_requests",
    target: "POST /browsers",
    request: () => ({ key: crowded.key, body: { name: "one-too-many" } }),
  },
];

it.each(refusals)(
  "answers $what in the form of every error",
  async ({ what, code, target, request, headers: expected = {} }) => {
    const [method = "", path = ""] = target.split(" ");
    const { body, headers, status } = await server.request(method, path, request());
    expect([status, (body as ErrorBody).code]).toEqual([Number(what.slice(0, 3)), code]);
    const error = ErrorBody.parse(body);
    expect(errorCodes).toContain(error.code);
    expect(error.message.length).toBeGreaterThan(10);
    for (const detail of error.details ?? [])
      expect(detail).toMatchObject({
        code: expect.any(String) as unknown,
        message: expect.stringMatching(/./) as unknown,
      });
    for (const { field, hint, message } of [error, ...(error.details ?? [])]) {
      if (field !== undefined) expect(message?.startsWith(`${field}: `)).toBe(true);
      if (hint !== undefined) expect(message?.endsWith(hint)).toBe(true);
    }
    expect(
      Object.keys(error).filter(
        (key) =>
          !["code", "message", "details", "inner_error", "field", "hint", "limit", "used", "remaining"].includes(key),
      ),
    ).toEqual([]);
    expect(headers.get("content-type")).toBe("application/json; charset=utf-8");
    expect(headers.get("x-request-id")).toMatch(/./);
    for (const [name, value] of Object.entries(expected)) expect(headers.get(name)).toMatch(value);
    expect(JSON.stringify(body)).not.toContain(server.key.slice(9));
  },
);

it("answers 529 with Retry-After when the server is full, and 500 without the cause after a failure", async () => {
  const made = await server.request("POST", "/browsers", { body: {} });
  expect(made.status).toBe(200);
  const full = await server.request("POST", "/browsers", { body: {} });
  expect([full.status, ErrorBody.parse(full.body).code, Number(full.headers.get("retry-after")) > 0]).toEqual([
    529,
    "capacity_exhausted",
    true,
  ]);
  await server.request("DELETE", `/browsers/${Browser.parse(made.body).session_id}`);

  await server.database.query.schema.alterTable("proxies").renameTo("proxies_away").execute();
  const broken = await server.request("GET", "/proxies");
  await server.database.query.schema.alterTable("proxies_away").renameTo("proxies").execute();
  expect([broken.status, ErrorBody.parse(broken.body).code]).toEqual([500, "internal_error"]);
  expect(JSON.stringify(broken.body)).not.toMatch(/proxies|relation|select/);
  expect(broken.headers.get("x-request-id")).toMatch(/./);
});
