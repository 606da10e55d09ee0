import { Search, SearchContents, type CreateSearch } from "@shoal/schemas";
import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { type RenderSite, startRenderSite } from "../../testing/render-site.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";

const braveKey = "BSA-secret-of-the-operator";
type Answer = (response: ServerResponse, url: URL) => void;

/** Speaks SearXNG's answers below /searx, and Brave's below /brave. */
let searxng: Answer;
let brave: Answer;
const asked: {
  readonly path: string;
  readonly query: Record<string, string>;
  readonly headers: IncomingMessage["headers"];
}[] = [];
const provider = createServer((request, response) => {
  const url = new URL(request.url ?? "", "http://provider");
  asked.push({ path: url.pathname, query: Object.fromEntries(url.searchParams), headers: request.headers });
  (url.pathname.startsWith("/searx/") ? searxng : brave)(response, url);
});
const json =
  (body: unknown, status = 200): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(JSON.stringify(body));
  };
const ofSearxng = (...urls: string[]) => json({ results: urls.map((url) => ({ url, title: `<b>${url}</b>` })) });
const ofBrave = (...urls: string[]) => json({ web: { results: urls.map((url) => ({ url, title: url })) } });

const onlyBrave = { type: "pinned", provider: { provider: "brave" } } as const;
const onlySearxng = { type: "pinned", provider: { provider: "searxng" } } as const;
let server: TestServer;
let bare: TestServer;
let shop: { id: string; key: string };
let site: RenderSite;
let providerUrl: string;
beforeAll(async () => {
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  const address = `http://127.0.0.1:${String((provider.address() as AddressInfo).port)}`;
  providerUrl = address;
  site = await startRenderSite();
  // Pages of sessions may be private; the provider is reached because it is the operator's.
  server = await startTestServer({
    search_searxng_url: `${address}/searx`,
    search_brave_key: braveKey,
    search_brave_url: `${address}/brave`,
    search_per_minute: 1_000,
    allow_private_hosts: [new URL(site.url).host, new URL(address).host],
  });
  bare = await startTestServer({});
  shop = await server.addProject("shop");
});
afterAll(async () => {
  await server.close();
  await bare.close();
  await site[Symbol.asyncDispose]();
  provider.closeAllConnections();
  provider.close();
});
beforeEach(() => {
  asked.length = 0;
  searxng = ofSearxng("https://a.example/", "https://b.example/");
  brave = ofBrave("https://c.example/");
});

const ask = (body: CreateSearch, key = shop.key) =>
  server.request("POST", "/search", { key, body: { timeout_ms: 120_000, ...body } });
async function search(body: CreateSearch): Promise<Search> {
  const answer = await ask(body);
  expect(answer.body).not.toHaveProperty("code");
  return Search.parse(answer.body);
}

describe("a search", () => {
  it("asks the first provider of the operator, and returns its results in order", async () => {
    const found = await search({ query: "fish & chips", max_results: 2 });
    expect(found).toMatchObject({
      query: "fish & chips",
      provider: "searxng",
      results: [
        { id: "r1", rank: 1, url: "https://a.example/", title: "https://a.example/" },
        { id: "r2", rank: 2, url: "https://b.example/" },
      ],
      attempts: [{ provider: "searxng", outcome: "success" }],
      warnings: [],
      usage: { provider_requests: 1 },
    });
    expect(asked).toMatchObject([{ path: "/searx/search", query: { q: "fish & chips", format: "json", pageno: "1" } }]);
    expect(asked[0]?.headers).not.toHaveProperty("x-subscription-token");
  });

  it("sends its fields in the terms of each provider", async () => {
    const fields = {
      language: "pt-BR",
      safe_search: "strict",
      include_domains: ["a.example"],
      exclude_domains: ["x.a.example"],
    } satisfies Partial<CreateSearch>;
    searxng = ofSearxng(
      "https://x.a.example/",
      "https://x.a.example./",
      "https://WWW.a.example/",
      "https://nota.example/",
      "https://a.example/",
    );
    const { results, warnings } = await search({
      query: "fish",
      ...fields,
      country: "br",
      recency: "hour",
      max_results: 2,
    });
    expect(results.map(({ url }) => url)).toEqual(["https://www.a.example/", "https://a.example/"]);
    expect(warnings.map(({ param }) => param)).toEqual(["country", "recency"]);
    expect(asked[0]?.query).toEqual({
      ...{ q: "fish site:a.example -site:x.a.example", format: "json", pageno: "1" },
      ...{ language: "pt-BR", time_range: "day", safesearch: "2" },
    });
    asked.length = 0;
    brave = ofBrave("https://a.example/");
    await search({
      query: "fish",
      ...fields,
      country: "br",
      start_date: "2026-01-01",
      end_date: "2026-01-31",
      strategy: onlyBrave,
      max_results: 1,
    });
    expect(asked).toMatchObject([{ path: "/brave/res/v1/web/search", headers: { "x-subscription-token": braveKey } }]);
    expect(asked[0]?.query).toEqual({
      ...{ q: "fish site:a.example -site:x.a.example", count: "1", offset: "0", country: "BR", search_lang: "pt-br" },
      ...{ freshness: "2026-01-01to2026-01-31", safesearch: "strict" },
    });
  });

  it("sends Brave its own codes alone, and warns of other values", async () => {
    const { warnings } = await search({
      query: "fish",
      language: "fa",
      country: "is",
      strategy: onlyBrave,
      max_results: 1,
    });
    expect(warnings).toMatchObject([
      { code: "unsupported_param", param: "country", provider: "brave" },
      { code: "unsupported_param", param: "language", message: expect.stringContaining("this language") as unknown },
    ]);
    expect(asked[0]?.query).toEqual({ q: "fish", count: "1", offset: "0" });
    const strict = await ask({ query: "fish", language: "fa", strict_params: true, strategy: onlyBrave });
    expect(strict).toMatchObject({ status: 400, body: { field: "body.language" } });
  });

  it.each([["x".repeat(401)], ["x ".repeat(51)]])("asks Brave no question that is too long", async (query) => {
    expect(await ask({ query, strategy: onlyBrave })).toMatchObject({
      status: 400,
      body: { field: "body.query", limit: "400 characters and 50 words" },
    });
    searxng = ofSearxng();
    expect(await search({ query })).toMatchObject({
      provider: "searxng",
      attempts: [{ outcome: "empty" }, { provider: "brave", outcome: "error", error_code: "query_too_long" }],
    });
    expect(asked.map(({ path }) => path)).toEqual(["/searx/search"]);
  });

  it("reads the next page of Brave although entries of a page are unusable, and reports fewer results", async () => {
    brave = (response, url) => {
      const page = url.searchParams.get("offset");
      const usable = (count: number) =>
        Array.from({ length: count }, (_, index) => `https://${page ?? ""}${String(index)}.example/`);
      ofBrave(...(page === "0" ? [...usable(19), "file:///x"] : usable(3)))(response, url);
    };
    const { results, usage, warnings } = await search({ query: "fish", max_results: 30, strategy: onlyBrave });
    expect(results).toHaveLength(22);
    expect(usage.provider_requests).toBe(2);
    expect(warnings).toMatchObject([
      { code: "fewer_results", provider: "brave", message: "brave had 22 of 30 results." },
    ]);
  });

  it("leaves the threads for parsing free while a provider stalls in its answer", async () => {
    const stalled: ServerResponse[] = [];
    const closed: Promise<unknown>[] = [];
    searxng = (response) => {
      response.writeHead(200, { "content-type": "application/json" }).write('{"results":[');
      stalled.push(response);
      closed.push(once(response, "close"));
    };
    // More than the threads, of projects with a turn each.
    const keys = await Promise.all(["one", "two", "three"].map(async (name) => (await server.addProject(name)).key));
    const waiting = keys.map((key) => ask({ query: "fish", strategy: onlySearxng, max_results: 1 }, key));
    await expect.poll(() => stalled.length).toBe(3);
    expect(await search({ query: "fish", strategy: onlyBrave })).toMatchObject({
      results: [{ url: "https://c.example/" }],
    });
    for (const response of stalled) response.end('{"url":"https://a.example/"}]}');
    for (const answer of await Promise.all(waiting)) expect(answer).toMatchObject({ status: 200 });
    await Promise.all(closed);
    closed.length = 0;
    stalled.length = 0;
    expect(await ask({ query: "fish", timeout_ms: 1_000, strategy: onlySearxng })).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining("searxng: timeout") as unknown },
    });
    await Promise.all(closed);
  });

  it("reads further pages until it has enough results, and no endless ones", async () => {
    searxng = (response, url) => {
      const page = Number(url.searchParams.get("pageno"));
      ofSearxng(
        ...(page > 2 ? ["https://1.example/"] : [1, 2].map((one) => `https://${String(page)}${String(one)}.example/`)),
      )(response, url);
    };
    const found = await search({ query: "fish", max_results: 100 });
    expect(found.results).toHaveLength(5);
    expect(found.usage.provider_requests).toBe(4);
    expect((await search({ query: "fish", max_results: 3 })).results).toHaveLength(3);
  });

  it("asks the next provider after an error or without results", async () => {
    searxng = json({ error: "secret of the provider" }, 500);
    expect(await search({ query: "fish" })).toMatchObject({
      provider: "brave",
      results: [{ url: "https://c.example/" }],
      attempts: [
        { provider: "searxng", outcome: "error", error_code: "http_500", retryable: true },
        { provider: "brave", outcome: "success" },
      ],
    });
    searxng = ofSearxng();
    expect(await search({ query: "fish" })).toMatchObject({ provider: "brave", attempts: [{ outcome: "empty" }, {}] });
    const strategy: CreateSearch["strategy"] = { type: "auto", fallback_on: ["error"] };
    expect(await search({ query: "fish", strategy })).toMatchObject({ provider: "searxng", results: [] });
  });

  it("answers 502 with the reason of each provider, and follows no redirect", async () => {
    searxng = (response) => {
      response.writeHead(302, { location: "http://169.254.169.254/latest/meta-data" }).end();
    };
    brave = (response) => {
      response.end("<html>");
    };
    const failed = await ask({ query: "fish" });
    expect(failed).toMatchObject({
      status: 502,
      body: {
        code: "bad_gateway",
        message: expect.stringContaining("searxng: http_302, brave: invalid_answer") as unknown,
      },
    });
    searxng = () => undefined;
    expect(await ask({ query: "fish", timeout_ms: 1_000, strategy: onlySearxng })).toMatchObject({
      status: 502,
      body: { message: expect.stringContaining("searxng: timeout") as unknown },
    });
    expect(server.log()).not.toContain(braveKey);
  });

  it("refuses what no asked provider supports with strict_params, and unknown providers", async () => {
    const strategy: CreateSearch["strategy"] = { type: "fallback", providers: [{ provider: "searxng" }] };
    expect(await ask({ query: "fish", country: "de", strict_params: true, strategy })).toMatchObject({
      status: 400,
      body: { field: "body.country" },
    });
    expect(await search({ query: "fish", country: "de", strict_params: true })).toMatchObject({ provider: "brave" });
    expect(await ask({ query: "fish", strategy: { type: "pinned", provider: { provider: "exa" } } })).toMatchObject({
      status: 400,
      body: { field: "body.strategy.provider.provider", limit: "searxng, brave" },
    });
    for (const invalid of [
      { query: " " },
      { query: "x".repeat(1_001) },
      { query: "fish", max_results: 101 },
      { query: "fish", include_domains: ["a.example OR b"] },
      { query: "fish", strategy: { type: "pinned" } },
    ])
      expect(await ask(invalid as CreateSearch)).toMatchObject({ status: 400 });
    expect(await ask({ query: "fish", start_date: "2026-02-01", end_date: "2026-01-31" })).toMatchObject({
      body: { field: "body.start_date" },
    });
    expect(asked).toHaveLength(1);
    const native = { provider: "brave", options: { count: 100 } };
    const ignoring = await ask({ query: "fish", strategy: { type: "pinned", provider: native } });
    expect(ignoring.headers.get("x-shoal-ignored-fields")).toContain("strategy.provider.options");
    expect(asked.at(-1)?.query).toMatchObject({ count: "10" });
  });

  it("answers 501 with the settings without a provider", async () => {
    expect(await bare.request("POST", "/search", { body: { query: "fish" } })).toMatchObject({
      status: 501,
      body: { code: "not_implemented", message: expect.stringContaining("search_searxng_url") as unknown },
    });
    expect((await bare.request("GET", "/search/providers")).body).toEqual([]);
  });
});

it("lists the providers with the support of each field", async () => {
  const all = await server.request("GET", "/search/providers", { key: shop.key });
  expect(all.body).toMatchObject([
    { slug: "searxng", max_results_cap: 100, params: { country: { support: "unsupported" } } },
    { slug: "brave", params: { country: { support: "native" } }, content: { inline: false, post_hoc: true } },
  ]);
  expect(JSON.stringify(all.body)).not.toContain(braveKey);
  expect((await server.request("GET", "/search/providers?slug=brave", { key: shop.key })).body).toHaveLength(1);
});

it("is kept for its project for a day", async () => {
  const found = await search({ query: "fish" });
  asked.length = 0;
  const get = (key: string) => server.request("GET", `/search/${found.id}`, { key });
  expect((await get(shop.key)).body).toEqual(found);
  expect(asked).toEqual([]);
  const bank = await server.addProject("bank");
  expect(await get(bank.key)).toMatchObject({ status: 404, body: { code: "not_found" } });
  const { query } = server.database;
  const past = new Date(Date.now() - 1_000);
  await query.updateTable("searches").set({ expires_at: past }).where("id", "=", found.id).execute();
  expect(await get(shop.key)).toMatchObject({ status: 404 });
});

it("keeps the newest searches of a project, without the entries of the provider", async () => {
  const { id: projectId, key } = await server.addProject("archive");
  const bank = await server.addProject("other-archive");
  const kept = async ({ id }: { readonly id: string }, ofKey = key) =>
    (await server.request("GET", `/search/${id}`, { key: ofKey })).body;
  const first = Search.parse((await ask({ query: "fish", include_raw: true }, key)).body);
  const foreign = Search.parse((await ask({ query: "fish" }, bank.key)).body);
  expect(first.results[0]?.raw).toContain("a.example");
  expect(await kept(first)).toEqual({ ...first, results: first.results.map(({ raw: _raw, ...result }) => result) });
  const { query } = server.database;
  const later = new Date(Date.parse(first.expires_at) - 24 * 60 * 60 * 1000 + 1);
  const rows = Array.from({ length: 999 }, (_, index) => ({
    ...{ id: `archive${String(index)}`, project_id: projectId, answer: "{}" },
    ...{ created_at: later, expires_at: new Date(first.expires_at) },
  }));
  await query.insertInto("searches").values(rows).execute();
  const newest = Search.parse((await ask({ query: "fish" }, key)).body);
  expect(await kept(first)).toMatchObject({ code: "not_found" });
  expect(await kept(newest)).toMatchObject({ id: newest.id });
  expect(await kept(foreign, bank.key)).toMatchObject({ id: foreign.id });
});

it("is limited by the project", async () => {
  const limited = await startTestServer({ search_searxng_url: "http://127.0.0.1:9/", search_per_minute: 1 });
  try {
    const [one, other] = [await limited.addProject("one"), await limited.addProject("other")];
    const times = [one, one, other].map(({ key }) => limited.request("POST", "/search", { key, body: { query: "x" } }));
    const answers = await Promise.all(times);
    expect(answers.map(({ status }) => status).sort()).toEqual([429, 502, 502]);
    expect(answers.find(({ status }) => status === 429)).toMatchObject({
      body: { code: "rate_limited", limit: 1, message: expect.stringContaining("search_per_minute") as unknown },
    });
  } finally {
    await limited.close();
  }
});

it("reads the pages of its results in browsers that end", async () => {
  searxng = ofSearxng(`${site.url}/page`, `${site.url}/none`, `${site.url}/file`, "http://10.0.0.1/");
  const { id } = await search({ query: "fish" });
  const read = (body: object) => server.request("POST", `/search/${id}/contents`, { key: shop.key, body });
  const answer = await read({ limit: 4, content: { max_chars: 100, timeout_ms: 120_000 }, timeout_ms: 300_000 });
  const { contents, usage } = SearchContents.parse(answer.body);
  expect(contents).toMatchObject([
    { result_id: "r1", status: "ok", method: "browser_render", http_status: 200, format: "markdown" },
    { result_id: "r2", status: "unavailable", error: { code: "http_404" } },
    { result_id: "r3", status: "unsupported_type" },
    { result_id: "r4", status: "unavailable", error: { code: "navigation_failed" } },
  ]);
  expect(contents[0]?.text).toContain("Fish & chips");
  expect(contents[0]?.text?.length).toBeLessThanOrEqual(100);
  expect(usage).toEqual({ provider_requests: 0, rendered_pages: 4 });
  const sessions = await server.request("GET", "/browsers?status=all", { key: shop.key });
  expect(sessions.body).toHaveLength(4);
  for (const session of sessions.body as object[])
    expect(session).toMatchObject({ origin: { dialect: "search" }, ended_reason: "deleted" });
  expect(await read({ result_ids: ["r9"] })).toMatchObject({ status: 400, body: { field: "body.result_ids.0" } });
  expect(await read({ limit: 1, content: { source: "provider" } })).toMatchObject({
    body: { contents: [{ status: "unavailable", error: { code: "no_provider_content" } }] },
  });
  expect(await read({})).toMatchObject({ status: 400 });
  expect(await read({ limit: 1, content: false })).toMatchObject({ status: 400, body: { field: "body.content" } });
});

it("reads the other pages after a browser that ended under the first one", async () => {
  const { key } = await server.addProject("ended");
  const held: ServerResponse[] = [];
  searxng = (response, url) => {
    if (url.pathname.endsWith("/held")) held.push(response);
    else ofSearxng(`${providerUrl}/searx/held`, `${site.url}/page`)(response, url);
  };
  const { id } = Search.parse((await ask({ query: "fish" }, key)).body);
  const content = { timeout_ms: 120_000 };
  const reading = server.request("POST", `/search/${id}/contents`, {
    key,
    body: { limit: 2, content, timeout_ms: 300_000 },
  });
  await expect.poll(() => held.length).toBeGreaterThan(0);
  const [session] = (await server.request("GET", "/browsers", { key })).body as { session_id: string }[];
  expect((await server.request("DELETE", `/browsers/${session?.session_id ?? ""}`, { key })).status).toBe(204);
  expect((await reading).body).toMatchObject({
    contents: [{ status: "error", error: { code: "browser_not_running" } }, { status: "ok" }],
  });
});
