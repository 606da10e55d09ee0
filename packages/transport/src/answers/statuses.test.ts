import { bytes, defineEndpoint, empty, json, tokenPage } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import * as z from "zod/mini";
import { ContractError, createTransport } from "../index.ts";
import { failureOf, reply, serve, type TestServer } from "../node/testing/misbehaving-server.ts";

const common = { area: "Test", plane: "control", method: "GET", summary: "Test.", errors: [500] } as const;
const Run = z.object({ state: z.string() });
const lease = defineEndpoint({
  ...common,
  operationId: "leases.acquire",
  method: "POST",
  path: "/leases",
  responses: { 200: json(Run), 204: empty },
});
const run = defineEndpoint({
  ...common,
  operationId: "runs.create",
  method: "POST",
  path: "/runs",
  responses: { 200: json(Run), 202: json(z.object({ id: z.string() })) },
});
const film = defineEndpoint({
  ...common,
  operationId: "films.download",
  path: "/film",
  responses: { 200: bytes("video/mp4", { headers: ["X-Row-Count"] }), 202: empty },
});
const log = defineEndpoint({
  ...common,
  operationId: "log.list",
  path: "/log",
  query: z.object({ page_token: z.optional(z.string()), search: z.optional(z.string()) }),
  responses: { 200: tokenPage(z.number()) },
});
const make = (server: TestServer) =>
  createTransport({ baseUrl: server.baseUrl, apiKey: "sk_secret_0123456789", maxRetries: 0 });

describe("several success statuses", () => {
  it("return undefined for the status without a body", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, count === 1 ? 204 : 200, count === 1 ? undefined : { state: "there" });
    });
    const transport = make(server);
    expect(await transport.call(lease)).toBeUndefined();
    expect(await transport.call(lease)).toEqual({ state: "there" });
    expect(server.seen[0]?.headers.accept).toBe("application/json");
  });

  it("are checked by the schema of the received status", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, count === 1 ? 202 : 200, { id: "r1" });
    });
    expect(await make(server).call(run)).toEqual({ id: "r1" });
    const error = await failureOf(make(server).call(run));
    expect(ContractError.isInstance(error) && error.path).toBe("body.state");
  });

  it("return no download for the status without a body", async () => {
    await using server = await serve((_, response, count) => {
      if (count === 1) reply(response, 202, undefined, { "retry-after": "1" });
      else response.writeHead(200, { "content-type": "video/mp4", "x-row-count": "7" }).end("film");
    });
    const transport = make(server);
    expect(await transport.download(film)).toBeUndefined();
    const download = await transport.download(film);
    expect([await new Response(download?.stream).text(), download?.headers.get("x-row-count")]).toEqual(["film", "7"]);
    expect(server.seen[0]?.headers.accept).toBe("video/mp4");
  });
});

describe("pages by token", () => {
  const pages = (next: (token: string | null) => Record<string, string>) =>
    serve((request, response) => {
      const token = new URL(request.url ?? "", "http://x").searchParams.get("page_token");
      reply(response, 200, token === null ? [1, 2] : [3], next(token));
    });

  it("are fetched on demand, with the same query", async () => {
    await using server = await pages((token) =>
      token === null ? { "x-has-more": "true", "x-next-page-token": "a+/=" } : { "x-has-more": "false" },
    );
    const page = await make(server).call(log, { query: { search: "x" } });
    expect(page).toMatchObject({ items: [1, 2], hasMore: true, nextPageToken: "a+/=", nextOffset: undefined });
    expect(server.seen).toHaveLength(1);
    const all: number[] = [];
    for await (const item of page) all.push(item);
    expect(all).toEqual([1, 2, 3]);
    expect(server.seen.map(({ url }) => url)).toEqual(["/log?search=x", "/log?search=x&page_token=a%2B%2F%3D"]);
    const last = await page.nextPage();
    expect(last).toMatchObject({ items: [3], hasMore: false, nextPageToken: undefined });
    expect(await last?.nextPage()).toBeUndefined();
  });

  it.each([{}, { "x-has-more": "false", "x-next-page-token": "t" }])("end with %j", async (headers) => {
    await using server = await pages(() => headers);
    expect((await make(server).call(log)).hasMore).toBe(false);
  });

  it.each([{ "x-has-more": "true" }, { "x-has-more": "true", "x-next-page-token": "t" }])(
    "reject %j after the token t, which would never end",
    async (headers) => {
      await using server = await pages(() => headers);
      const error = await failureOf(make(server).call(log, { query: { page_token: "t" } }));
      expect(ContractError.isInstance(error) && error.path).toBe("headers.x-next-page-token");
    },
  );
});
