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

let server: TestServer;
let bare: TestServer;
let shop: { id: string; key: string };
let site: RenderSite;
beforeAll(async () => {
  provider.listen(0, "127.0.0.1");
  await once(provider, "listening");
  const address = `http://127.0.0.1:${String((provider.address() as AddressInfo).port)}`;
  site = await startRenderSite();
  // Pages of sessions may be private; the provider is reached because it is the operator's.
  server = await startTestServer({
    search_searxng_url: `${address}/searx`,
    search_brave_key: braveKey,
    search_brave_url: `${address}/brave`,
    search_per_minute: 1_000,
    allow_private_hosts: [new URL(site.url).host],
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
    const pinned = { type: "pinned", provider: { provider: "brave" } } as const;
    await search({
      query: "fish",
      ...fields,
      country: "br",
      start_date: "2026-01-01",
      end_date: "2026-01-31",
      strategy: pinned,
      max_results: 1,
    });
    expect(asked).toMatchObject([{ path: "/brave/res/v1/web/search", headers: { "x-subscription-token": braveKey } }]);
    expect(asked[0]?.query).toEqual({
      ...{ q: "fish site:a.example -site:x.a.example", count: "1", offset: "0", country: "BR", search_lang: "pt" },
      ...{ freshness: "2026-01-01to2026-01-31", safesearch: "strict" },
    });
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
    const strategy = { type: "pinned", provider: { provider: "searxng" } } as const;
    expect(await ask({ query: "fish", timeout_ms: 1_000, strategy })).toMatchObject({
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
});
