import { contract, type Endpoint } from "@shoal/contract";
import { notImplemented as missingInside } from "@shoal/instance";
import { ErrorBody } from "@shoal/schemas";
import pLimit from "p-limit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { notImplemented } from "../http/not-implemented.ts";
import { areToldApart, formOf, queryText, type RequestCase, requestCases } from "../testing/request-cases.ts";
import { tableContents } from "../testing/table-contents.ts";
import { startTestServer, type TestRequest, type TestServer } from "../testing/test-server.ts";

const missing = new Set<string>([...notImplemented, ...missingInside]);
const all = Object.entries<Endpoint>(contract);
const endpoints = all
  .filter(([name, { auth }]) => !missing.has(name) && auth !== "none")
  .map(([, endpoint]) => [endpoint.operationId, endpoint] as const);

let server: TestServer;
let session: string;
let before: unknown;
beforeAll(async () => {
  server = await startTestServer({ unknown_fields: "refuse" });
  const made = await server.request("POST", "/browsers", { body: { timeout_seconds: 3600 } });
  session = (made.body as { session_id: string }).session_id;
  before = await contents();
});
afterAll(() => server.close());

const known = new Map<string, readonly RequestCase[]>();
/** The cases of an operation, which take long to make. */
function casesFor(endpoint: Endpoint): readonly RequestCase[] {
  const cases = known.get(endpoint.operationId) ?? [...requestCases(endpoint, paramsFor(endpoint))];
  known.set(endpoint.operationId, cases);
  return cases;
}

/** The database rows and the files of the session. */
async function contents(): Promise<unknown> {
  const { body } = await server.request("GET", `/browsers/${session}/fs/list_files?path=/`);
  return [await tableContents(server.database), (body as { path: string }[]).map(({ path }) => path).sort()];
}

function paramsFor({ path }: Endpoint): Record<string, string> {
  return Object.fromEntries(
    [...path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [
      name,
      path.startsWith("/browsers/{id}") && name === "id" ? session : "x",
    ]),
  );
}

function send(endpoint: Endpoint, { body, params, query }: Pick<RequestCase, "body" | "params" | "query">) {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
  const request: TestRequest =
    body === undefined ? {} : { body: endpoint.body?.kind === "multipart" ? formOf(body) : JSON.stringify(body) };
  return server.request(endpoint.method, path + queryText(query), request);
}

/** Returns the fault in the answer to a case, or `undefined`. */
async function complaint(endpoint: Endpoint, wrong: RequestCase): Promise<string | undefined> {
  const { body, headers, status } = await send(endpoint, wrong);
  const told = `${wrong.at}, ${wrong.what}: ${String(status)} ${body === undefined ? "without a body" : JSON.stringify(body).slice(0, 300)}`;
  // An operation without query and body can only report a missing object.
  if (wrong.taken && status === 404) return undefined;
  if (status !== 400 || headers.get("x-request-id") === null) return told;
  const error = ErrorBody.safeParse(body);
  if (!error.success || error.data.code !== "bad_request") return told;
  // Parts of a form have the names that the client sent: `body.files[0][dest_path]`.
  const at = endpoint.body?.kind === "multipart" ? wrong.at.replaceAll(/(?<=\])\.(\w+)/g, "[$1]") : wrong.at;
  const named = (error.data.details ?? []).some(
    ({ message = "" }) => message === at || [":", ".", "["].some((next) => message.startsWith(at + next)),
  );
  return named === wrong.taken ? told : undefined;
}

it("knows the fields of all requests, including unions and multipart bodies", () => {
  const fields = endpoints.flatMap(([operationId, endpoint]) =>
    casesFor(endpoint).map(({ at }) => `${operationId} ${at}`),
  );
  expect(fields.length).toBeGreaterThan(3600);
  const some = [
    "proxies.create body.config.port",
    "proxies.create body.config.zip",
    "browsers.fs.upload body.files[0].dest_path",
    "browsers.fs.uploadZip body.zip_file",
    "browsers.loadExtensions body.extensions[0].name",
    "extensions.upload body.file",
  ];
  expect(some.filter((field) => !fields.includes(field))).toEqual([]);
});

it.each(all.filter(([name]) => missing.has(name)).map(([, endpoint]) => [endpoint.operationId, endpoint] as const))(
  "%s, which answers 501, declares its valid and invalid values",
  (_id, endpoint) => {
    const params = Object.fromEntries([...endpoint.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => [name, "x"]));
    expect(
      [...requestCases(endpoint, params)]
        .filter((tried) => !areToldApart(endpoint, tried))
        .map(({ at, what }) => `${at}, ${what}`),
    ).toEqual([]);
  },
);

describe.each(endpoints)("%s", (_id, endpoint) => {
  it("names each missing, mistyped, out-of-range or unknown field, and accepts values within the limits", async () => {
    const sent = casesFor(endpoint).filter((wrong) => wrong.isSent || !areToldApart(endpoint, wrong));
    const said = await pLimit(8).map(sent, (wrong) => complaint(endpoint, wrong));
    expect(said.filter((one) => one !== undefined)).toEqual([]);
  });
});

const withJson = endpoints.filter(([, { body }]) => body?.kind === "json");
it.each(withJson)(
  "%s refuses a body that is not a JSON object, has another content type, or is too large",
  async (_id, endpoint) => {
    const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => paramsFor(endpoint)[name] ?? "");
    const answerTo = (body: string, headers = {}) => server.request(endpoint.method, path, { body, headers });
    for (const body of ["{", "[]", '"text"', "7", "true", '{"a":1,}', "\u0000"])
      expect(await answerTo(body), body).toMatchObject({
        status: 400,
        body: { code: "bad_request", message: expect.stringMatching(/^body\b/) as unknown },
      });
    expect(await answerTo("{}", { "content-type": "text/plain" })).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
    expect(await answerTo("{}", { "content-encoding": "gzip" })).toMatchObject({
      status: 415,
      body: { code: "unsupported_media_type" },
    });
    const limitBytes = (endpoint.body?.kind === "json" ? endpoint.body.limitBytes : undefined) ?? 1024 * 1024;
    expect(await answerTo(`"${"a".repeat(limitBytes - 2)}"`)).toMatchObject({
      status: 400,
      body: { code: "bad_request" },
    });
    expect(await answerTo(`"${"a".repeat(limitBytes - 1)}"`)).toMatchObject({
      status: 413,
      body: { code: "payload_too_large", message: expect.stringContaining(`${String(limitBytes)} bytes`) as unknown },
    });
    if (endpoint.body?.kind === "json" && !endpoint.body.optional)
      expect(await server.request(endpoint.method, path)).toMatchObject({
        status: 400,
        body: { code: "bad_request", message: expect.stringMatching(/^body: required/) as unknown },
      });
  },
);

const withForm = endpoints.filter(([, { body }]) => body?.kind === "multipart");
it.each(withForm)("%s refuses a body that is not a form, a broken form, and too much text", async (_id, endpoint) => {
  const path = endpoint.path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => paramsFor(endpoint)[name] ?? "");
  const answerTo = (body: string, type: string) =>
    server.request(endpoint.method, path, { body, headers: { "content-type": type } });
  const partWith = (text: string) => `--b\r\ncontent-disposition: form-data; name="zz_unknown"\r\n\r\n${text}`;
  expect(await answerTo("{}", "application/json")).toMatchObject({
    status: 415,
    body: { code: "unsupported_media_type" },
  });
  for (const [body, type] of [
    ["--b--\r\n", "multipart/form-data"],
    [partWith("x"), "multipart/form-data; boundary=b"],
  ] as const)
    expect(await answerTo(body, type), body).toMatchObject({
      status: 400,
      body: { code: "bad_request", message: expect.stringMatching(/^body\b/) as unknown },
    });
  expect(
    await answerTo(`${partWith("a".repeat(1024 * 1024 + 1))}\r\n--b--\r\n`, "multipart/form-data; boundary=b"),
  ).toMatchObject({
    status: 413,
    body: { code: "payload_too_large" },
  });
});

it.each(["POST /browsers", "PATCH /browsers/x", "POST /browser_pools/x/acquire"])(
  "%s accepts at most 50 tags",
  async (operation) => {
    const [method = "", path = ""] = operation.split(" ");
    const tagged = async (count: number) =>
      (
        await server.request(method, path, {
          body: {
            tags: Object.fromEntries(Array.from({ length: count }, (_none, index) => [`tag ${String(index)}`, ""])),
            zz_unknown: 1,
          },
        })
      ).body;
    expect(JSON.stringify(await tagged(50))).not.toContain("body.tags");
    expect(JSON.stringify(await tagged(51))).toContain("body.tags: at most 50 tags");
  },
);

it("changes nothing", async () => {
  expect(await contents()).toEqual(before);
});
