import { describe, expect, it } from "vitest";
import { adapters, answerOf, send } from "../testing/servers.ts";

const header = "x-shoal-ignored-fields";
const echo = { create: ({ body }: { body: unknown }) => body };

describe.each(adapters)("fields unknown to the contract, over $name", ({ start }) => {
  async function post(body: unknown): Promise<{ status: number; body: unknown; ignored: string | null }> {
    const { url } = await start(echo);
    const { body: answered, headers, status } = await answerOf(fetch(`${url}/things`, send("POST", body)));
    return { status, body: answered, ignored: headers.get(header) };
  }

  it("are dropped at every depth and listed in a header", async () => {
    expect(
      await post({
        browser: "chromium",
        viewport: { width: 1, height: 2, depth: 3 },
        items: [
          { width: 1, height: 1 },
          { width: 2, height: 2, zzz: {} },
        ],
        target: { kind: "page", url: "u", path: "p" },
        either: { b: 1, c: 2 },
      }),
    ).toEqual({
      status: 201,
      body: {
        mode: "fast",
        viewport: { width: 1, height: 2 },
        items: [
          { width: 1, height: 1 },
          { width: 2, height: 2 },
        ],
        target: { kind: "page", url: "u" },
        either: { b: 1 },
      },
      ignored: "body.browser, body.viewport.depth, body.target.path, body.either.c, body.items[1].zzz",
    });
  });

  it("do not include fields of another form of a union", async () => {
    const answer = await post({ either: { b: "1", a: { deep: 7 }, c: 1 } });
    expect(answer).toMatchObject({ status: 400, ignored: "body.either.c" });
    expect((await post({ either: { a: { deep: "x", zzz: 1 } } })).ignored).toBe("body.either.a.zzz");
  });

  it.each([
    [{ policy: { statements: [] } }, ["body.policy"]],
    [{ expires_at: "2030-01-01T00:00:00Z" }, ["body.expires_at"]],
    [{ viewport: { width: 1, height: 1, allowed_hosts: [] } }, ["body.viewport.allowed_hosts"]],
    [{ items: [{ width: 1, height: 1, proxy_routes: {} }] }, ["body.items[0].proxy_routes"]],
    [{ readOnly: true, zzz: 1 }, ["body.readOnly"]],
    [{ "max-requests": 1, deny: [], blocklist: ["a"] }, ['body["max-requests"]', "body.deny", "body.blocklist"]],
  ])("are refused where they restrict something: %j", async (body, paths) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    for (const path of paths) expect(JSON.stringify(answer.body)).toContain(JSON.stringify(path).slice(1, -1));
    expect(JSON.stringify(answer.body)).not.toContain("zzz");
  });

  it.each([
    [{ proxies: true }, ["body.proxies"]],
    [{ proxyUrl: "http://x", zzz: 1 }, ["body.proxyUrl"]],
    [{ viewport: { width: 1, height: 1, network: { zzz: 1 } } }, ["body.viewport.network"]],
    [{ profile_version: 3, vaults: [] }, ["body.profile_version", "body.vaults"]],
  ])("are refused where they decide where traffic, identity or secrets go: %j", async (body, paths) => {
    const answer = await post(body);
    expect(answer.status).toBe(400);
    for (const path of paths) expect(JSON.stringify(answer.body)).toContain(path);
    expect(JSON.stringify(answer.body)).not.toContain("zzz");
  });

  it("are dropped where a restriction is off", async () => {
    expect(await post({ policy: null, expires_at: null, read_only: false, proxy: null })).toMatchObject({
      status: 201,
      ignored: "body.policy, body.expires_at, body.read_only, body.proxy",
    });
  });

  it("add no header to a request without them", async () => {
    expect((await post({ name: "a", anything: { zzz: 1 } })).ignored).toBeNull();
  });

  it("are listed with a similar known field", async () => {
    expect((await post({ nmae: "a", viewport: { width: 1, height: 1, heigth: 2 } })).ignored).toBe(
      "body.nmae (did you mean name?), body.viewport.heigth (did you mean height?)",
    );
  });

  it("are listed by a refusal for another reason, which names only its own problem", async () => {
    const answer = await post({ name: 7, zzz: 1, viewport: { width: 1, zzz: 1 } });
    expect(answer).toMatchObject({ status: 400, ignored: "body.zzz, body.viewport.zzz" });
    expect(
      (answer.body as { details: unknown[] }).details.map(
        (detail) => (detail as { message: string }).message.split(":")[0],
      ),
    ).toEqual(["body.name", "body.viewport.height"]);
  });

  it("cannot break or inflate the header by their names", async () => {
    const hostile: Record<string, number> = { "a\r\nset-cookie: x=1": 1, "ä\u0000😀": 1, ["n".repeat(100_000)]: 1 };
    for (let index = 0; index < 5000; index++) hostile[`key${String(index)}`] = index;
    const { ignored, status } = await post(hostile);
    expect(status).toBe(201);
    expect(ignored).toMatch(/^[\x20-\x7e]{1,2000}$/);
    expect(ignored).toMatch(/and 4993 more$/);
  });

  it("are ignored in a query", async () => {
    const { url } = await start({ list: ({ query }) => ({ items: [query], hasMore: false, nextOffset: undefined }) });
    const { body, headers, status } = await answerOf(fetch(`${url}/things?limi=3&zz=1&zz=2&__proto__=1&deep=true`));
    expect([status, body, headers.get(header)]).toEqual([
      200,
      [{ limit: 20, offset: 0, deep: true }],
      "query.limi (did you mean limit?), query.zz, query.__proto__",
    ]);
  });

  it("are refused by name if the program sets unknownFields to refuse", async () => {
    const { url } = await start(echo, { unknownFields: "refuse" });
    const { body, headers, status } = await answerOf(fetch(`${url}/things`, send("POST", { browser: "chromium" })));
    expect([status, headers.get(header)]).toEqual([400, null]);
    expect(body).toMatchObject({ message: expect.stringMatching(/^body\.browser: unknown field/) as unknown });
  });
});
