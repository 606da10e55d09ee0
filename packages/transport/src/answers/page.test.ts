import { listProfiles } from "@shoal/contract";
import { describe, expect, it } from "vitest";
import { ContractError, createTransport, type TransportOptions } from "../index.ts";
import { failureOf, profile, reply, serve, type TestServer } from "../node/testing/misbehaving-server.ts";

const apiKey = "sk_secret_0123456789";
const make = (server: TestServer, options: Partial<TransportOptions> = {}) =>
  createTransport({ baseUrl: server.baseUrl, apiKey, ...options });

describe("page", () => {
  const all = Array.from({ length: 7 }, (_, index) => ({ ...profile, id: `p${index}` }));
  const paged = () =>
    serve((request, response) => {
      const offset = Number(new URL(request.url ?? "", "http://x").searchParams.get("offset") ?? 0);
      const items = all.slice(offset, offset + 3);
      const next = offset + items.length;
      reply(response, 200, items, {
        "x-has-more": String(next < all.length),
        ...(next < all.length && { "x-next-offset": String(next) }),
      });
    });

  it("contains its items and iterates over all pages", async () => {
    await using server = await paged();
    const page = await make(server).call(listProfiles, { query: { limit: 3, query: "p" } });
    expect(JSON.parse(JSON.stringify(page))).toEqual({ items: all.slice(0, 3), hasMore: true, nextOffset: 3 });
    const ids: string[] = [];
    for await (const item of page) ids.push(item.id);
    expect(ids).toEqual(all.map((item) => item.id));
    expect(server.seen.map((request) => request.url)).toEqual([
      "/profiles?limit=3&query=p",
      "/profiles?limit=3&query=p&offset=3",
      "/profiles?limit=3&query=p&offset=6",
    ]);
    const second = await page.nextPage();
    expect(second?.items).toEqual(all.slice(3, 6));
    expect(await (await second?.nextPage())?.nextPage()).toBeUndefined();
  });

  it("fetches pages on demand", async () => {
    await using server = await paged();
    for await (const item of await make(server).call(listProfiles)) if (item.id === "p1") break;
    expect(server.seen).toHaveLength(1);
  });

  it.each([
    [{}, 2, undefined],
    [{ "x-has-more": "false", "x-next-offset": "5" }, 2, undefined],
    [{ "x-has-more": "true", "x-next-offset": "0" }, 2, undefined],
    [{ "x-has-more": "true", "x-next-offset": "9" }, 0, 9],
    [{ "x-next-offset": "9" }, 0, undefined],
    [{ "x-has-more": "true" }, 0, undefined],
    [{ "x-next-offset": "2" }, 2, 2],
  ])("reads the headers %j of %i items as next offset %s", async (headers, count, next) => {
    await using server = await serve((_, response) => {
      reply(response, 200, all.slice(0, count), headers);
    });
    expect((await make(server).call(listProfiles)).nextOffset).toBe(next);
  });

  it.each([
    { "x-has-more": "true" },
    { "x-has-more": "true", "x-next-offset": "3" },
    { "x-has-more": "true", "x-next-offset": "-1" },
    { "x-has-more": "true", "x-next-offset": "abc" },
  ])("rejects %j, which would never end", async (headers) => {
    await using server = await serve((_, response) => {
      reply(response, 200, all.slice(0, 3), headers);
    });
    const error = await failureOf(make(server).call(listProfiles, { query: { offset: 3 } }));
    expect(ContractError.isInstance(error) && error.path).toBe("headers.x-next-offset");
  });

  it("names the invalid item, and a body that is not a list", async () => {
    await using server = await serve((_, response, count) => {
      reply(response, 200, count === 1 ? [profile, { ...profile, id: null }] : { items: [] });
    });
    expect(await failureOf(make(server).call(listProfiles))).toMatchObject({ path: "body[1].id" });
    expect(await failureOf(make(server).call(listProfiles))).toMatchObject({ path: "body" });
  });
});
