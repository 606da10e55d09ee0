import { contract, type Endpoint } from "@shoal/contract";
import { notImplemented as missingInside } from "@shoal/instance";
import { ErrorBody } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notImplemented } from "./not-implemented.ts";
import { queryText, type RequestCase, requestCases } from "./testing/request-cases.ts";
import { tableContents } from "./testing/table-contents.ts";
import { startTestServer, type TestRequest, type TestServer } from "./testing/test-server.ts";

const missing = new Set<string>([...notImplemented, ...missingInside]);
const endpoints = Object.entries<Endpoint>(contract)
  .filter(([name, { auth }]) => !missing.has(name) && auth !== "none")
  .map(([, endpoint]) => [endpoint.operationId, endpoint] as const);

let server: TestServer;
let session: string;
let before: string;
beforeAll(async () => {
  server = await startTestServer();
  const made = await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } });
  session = (made.body as { session_id: string }).session_id;
  before = await tableContents(server.database);
});
afterAll(() => server.close());

function paramsFor({ path }: Endpoint): Record<string, string> {
  return Object.fromEntries([...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, path.startsWith("/browsers/{id}") && name === "id" ? session : "x"]));
}

function send(endpoint: Endpoint, { body, params, query }: Pick<RequestCase, "body" | "params" | "query">) {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
  const request: TestRequest = body === undefined ? {} : { body: JSON.stringify(body) };
  return server.request(endpoint.method, path + queryText(query), request);
}

/** What the answer to a case lacks; `undefined` = nothing. */
async function complaint(endpoint: Endpoint, wrong: RequestCase): Promise<string | undefined> {
  const { body, headers, status } = await send(endpoint, wrong);
  const told = `${wrong.at}, ${wrong.what}: ${String(status)} ${body === undefined ? "without a body" : JSON.stringify(body).slice(0, 300)}`;
  // Of an operation without query and body nothing else can be wrong: there is no such object.
  if (wrong.taken && status === 404) return undefined;
  if (status !== 400 || headers.get("x-request-id") === null) return told;
  const error = ErrorBody.safeParse(body);
  if (!error.success || error.data.code !== "bad_request") return told;
  const named = (error.data.details ?? []).some(({ message = "" }) => message === wrong.at || [":", ".", "["].some((next) => message.startsWith(wrong.at + next)));
  return named === wrong.taken ? told : undefined;
}

it("knows the fields of the requests", () => {
  expect(endpoints.reduce((sum, [, endpoint]) => sum + [...requestCases(endpoint, paramsFor(endpoint))].length, 0)).toBeGreaterThan(3000);
});

describe.each(endpoints)("%s", (_id, endpoint) => {
  it("names each field that is missing, of another type, beyond its limit or unknown, and takes what is within the limits", { timeout: 120_000 }, async () => {
    const cases = [...requestCases(endpoint, paramsFor(endpoint))];
    const complaints: string[] = [];
    for (const wrong of cases) {
      const said = await complaint(endpoint, wrong);
      if (said !== undefined) complaints.push(said);
    }
    expect(complaints).toEqual([]);
  });
});

const withJson = endpoints.filter(([, { body }]) => body?.kind === "json");
it.each(withJson)("%s refuses a body that is no JSON object, of another type, or too large", { timeout: 120_000 }, async (_id, endpoint) => {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => paramsFor(endpoint)[name] ?? "");
  const answerTo = (body: string, headers = {}) => server.request(endpoint.method, path, { body, headers });
  for (const body of ["{", "[]", '"text"', "7", "true", '{"a":1,}', "\u0000"]) expect(await answerTo(body), body).toMatchObject({ status: 400, body: { code: "bad_request", message: expect.stringMatching(/^body\b/) as unknown } });
  expect(await answerTo("{}", { "content-type": "text/plain" })).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  expect(await answerTo("{}", { "content-encoding": "gzip" })).toMatchObject({ status: 415, body: { code: "unsupported_media_type" } });
  const limitBytes = (endpoint.body?.kind === "json" ? endpoint.body.limitBytes : undefined) ?? 1024 * 1024;
  expect(await answerTo(`"${"a".repeat(limitBytes - 2)}"`)).toMatchObject({ status: 400, body: { code: "bad_request" } });
  expect(await answerTo(`"${"a".repeat(limitBytes - 1)}"`)).toMatchObject({ status: 413, body: { code: "payload_too_large", message: expect.stringContaining(`${String(limitBytes)} bytes`) as unknown } });
  if (endpoint.body?.kind === "json" && !endpoint.body.optional) expect(await server.request(endpoint.method, path)).toMatchObject({ status: 400, body: { code: "bad_request", message: expect.stringMatching(/^body: required/) as unknown } });
});

it.each(["POST /browsers", "PATCH /browsers/x", "POST /browser_pools/x/acquire"])("%s takes 50 tags and no more", async (operation) => {
  const [method = "", path = ""] = operation.split(" ");
  const tagged = async (count: number) => (await server.request(method, path, { body: { tags: Object.fromEntries(Array.from({ length: count }, (_none, index) => [`tag ${String(index)}`, ""])), zz_unknown: 1 } })).body;
  expect(JSON.stringify(await tagged(50))).not.toContain("body.tags");
  expect(JSON.stringify(await tagged(51))).toContain("body.tags: at most 50 tags");
});

it("has changed nothing", async () => {
  expect(await tableContents(server.database)).toBe(before);
});
