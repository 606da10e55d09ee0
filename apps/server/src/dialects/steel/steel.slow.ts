import { Browser } from "@shoal/schemas";
import { randomUUID } from "node:crypto";
import * as z from "zod/mini";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { connectCdp } from "../../testing/cdp-client.ts";
import { blockedStatements } from "../../testing/blocked-statements.ts";
import { type RenderSite, startRenderSite } from "../../testing/render-site.ts";
import { startTestServer, type TestServer } from "../../testing/test-server.ts";
import * as shapes from "./shapes.ts";

let server: TestServer;
let shop: { id: string; key: string };
let bank: { id: string; key: string };
let site: RenderSite;
beforeAll(async () => {
  site = await startRenderSite();
  server = await startTestServer({ dialects: ["browserbase", "steel"], allow_private_hosts: ["127.0.0.1"] });
  shop = await server.addProject("shop");
  bank = await server.addProject("bank");
});
afterAll(async () => {
  await server.close();
  await site[Symbol.asyncDispose]();
});

interface Call {
  readonly body?: unknown;
  readonly key?: string;
}

async function send(method: string, path: string, { body, key = shop.key }: Call = {}) {
  const isForm = body instanceof FormData;
  const answer = await fetch(`${server.baseUrl}/steel/v1${path}`, {
    method,
    // Clients also declare JSON where they send no body.
    headers: { "steel-api-key": key, ...(!isForm && method === "POST" && { "content-type": "application/json" }) },
    ...(body !== undefined && { body: isForm ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  const isJson = answer.headers.get("content-type")?.startsWith("application/json") === true;
  return { status: answer.status, headers: answer.headers, body: isJson ? (JSON.parse(text) as unknown) : text };
}

const create = async (body: object = {}) => {
  const answer = await send("POST", "/sessions", { body });
  if (answer.status !== 201) throw new Error(JSON.stringify(answer.body));
  return shapes.Session.parse(answer.body);
};
const nativeOf = async (id: string) =>
  Browser.parse((await server.request("GET", `/browsers/${id}`, { key: shop.key })).body);
const idsIn = (body: unknown) => shapes.Sessions.parse(body).sessions.map(({ id }) => id);

afterEach(async () => {
  await send("POST", "/sessions/release");
});

describe("sessions", () => {
  it("are created, found, and released, also twice", async () => {
    const session = await create({ timeout: 60_500, dimensions: { width: 800, height: 600 } });
    expect(session).toMatchObject({
      status: "live",
      timeout: 61_000,
      dimensions: { width: 800, height: 600 },
      proxySource: null,
    });
    expect(await nativeOf(session.id)).toMatchObject({ timeout_seconds: 61, origin: { dialect: "steel" } });
    expect((await send("GET", `/sessions/${session.id}`)).body).toMatchObject({ id: session.id, status: "live" });
    for (let times = 0; times < 2; times += 1)
      expect((await send("POST", `/sessions/${session.id}/release`)).body).toMatchObject({ success: true });
    expect((await send("GET", `/sessions/${session.id}`)).body).toMatchObject({
      status: "released",
      websocketUrl: "",
    });
    expect((await send("GET", `/sessions/${session.id}/events`)).body).toEqual([]);
  });

  it("have the id that their client chooses, once", async () => {
    const sessionId = randomUUID();
    expect(await create({ sessionId })).toMatchObject({ id: sessionId });
    const again = await send("POST", "/sessions", { body: { sessionId } });
    expect([again.status, again.body]).toMatchObject([409, { success: false }]);
    expect((await send("POST", `/sessions/${sessionId}/release`)).status).toBe(200);
    expect((await send("GET", `/sessions/${sessionId}`)).body).toMatchObject({ id: sessionId, status: "released" });
    expect((await send("POST", "/sessions", { body: { sessionId } })).status).toBe(409);
    expect((await send("POST", "/sessions", { body: { sessionId: "mine" } })).status).toBe(400);
  });

  it("are listed newest first, from the last id of the page before", async () => {
    const ids: string[] = [];
    for (let count = 0; count < 3; count += 1) ids.unshift((await create()).id);
    const first = await send("GET", "/sessions?status=live&limit=2");
    expect(first.body).toMatchObject({ nextCursor: ids[1] });
    expect(idsIn(first.body)).toEqual(ids.slice(0, 2));
    // A new session does not move the next page.
    await create();
    const second = await send("GET", `/sessions?status=live&limit=2&cursorId=${ids[1] ?? ""}`);
    expect([idsIn(second.body), second.body]).toMatchObject([ids.slice(2), { nextCursor: null }]);
    expect(idsIn((await send("GET", `/sessions?status=live&cursorId=${ids[2] ?? ""}`)).body)).toEqual([]);
    expect(idsIn((await send("GET", "/sessions?status=failed")).body)).toEqual([]);
    expect((await send("GET", "/sessions?cursorId=none")).status).toBe(404);
  });

  it("of others are neither shown nor released", async () => {
    const { id } = await create();
    const native = await server.request("POST", "/browsers", { key: shop.key, body: {} });
    const { session_id: other } = Browser.parse(native.body);
    const foreign = shapes.Session.parse((await send("POST", "/sessions", { key: bank.key, body: {} })).body);
    for (const [method, path] of [
      ["GET", `/sessions/${id}`],
      ["POST", `/sessions/${id}/release`],
      ["GET", `/sessions/${id}/context`],
      ["GET", `/sessions/${id}/live-details`],
      ["GET", `/sessions/${id}/files`],
      ["GET", `/sessions?cursorId=${id}`],
    ] as const)
      expect([path, (await send(method, path, { key: bank.key })).status]).toEqual([path, 404]);
    expect(idsIn((await send("GET", "/sessions", { key: bank.key })).body)).toEqual([foreign.id]);
    expect((await send("POST", "/sessions/release")).body).toMatchObject({ message: "1 sessions were released." });
    expect((await nativeOf(other)).session_id).toBe(other);
    expect((await send("GET", `/sessions/${foreign.id}`, { key: bank.key })).body).toMatchObject({ status: "live" });
    await server.request("DELETE", `/browsers/${other}`, { key: shop.key });
  });

  it("are all released if one of them ends meanwhile", async () => {
    const [, middle, first] = [await create(), await create(), await create()];
    const { answer } = await server.database.query.transaction().execute(async (transaction) => {
      await transaction.selectFrom("sessions").select("id").where("id", "=", first.id).forUpdate().execute();
      const asked = send("POST", "/sessions/release");
      await expect.poll(() => blockedStatements(server.database)).toBeGreaterThan(0);
      expect((await server.request("DELETE", `/browsers/${middle.id}`, { key: shop.key })).status).toBe(204);
      return { answer: asked };
    });
    expect(await answer).toMatchObject({ status: 200, body: { success: true } });
    expect(idsIn((await send("GET", "/sessions?status=live")).body)).toEqual([]);
  });

  it("are not found by metadata of another client", async () => {
    const sessionId = randomUUID();
    const other = await server.request("POST", "/browserbase/v1/sessions", {
      key: null,
      headers: { "x-bb-api-key": shop.key },
      body: { userMetadata: { sessionId } },
    });
    expect(other.status).toBe(201);
    expect((await send("GET", `/sessions/${sessionId}`)).status).toBe(404);
    expect((await send("POST", `/sessions/${sessionId}/release`)).status).toBe(404);
    expect(await create({ sessionId })).toMatchObject({ id: sessionId });
    await server.request("DELETE", `/browsers/${(other.body as { id: string }).id}`, { key: shop.key });
  });

  it("leave no profile and no session when their state is refused", async () => {
    const sessionContext = { localStorage: { "file:///": { a: "b" } } };
    const policy = {
      statements: ["browsers.create", "browsers.playwright.execute", "profiles.create", "profiles.delete"].map(
        (name) => ({
          action: `operation:${name}`,
          resource: `projects/${shop.id}/*`,
        }),
      ),
    };
    const made = await server.request("POST", "/org/api_keys", { body: { name: "limited", policy } });
    const body = { sessionContext, persistProfile: true };
    for (const key of [shop.key, (made.body as { key: string }).key])
      expect(await send("POST", "/sessions", { body, key })).toMatchObject({ status: 400 });
    for (const path of ["/profiles", "/browsers"])
      expect((await server.request("GET", path, { key: shop.key })).body).toEqual([]);
  });

  it("take a separate proxy, and report fields without effect", async () => {
    const proxyUrl = "http://ann:p4ssw0rd-x@127.0.0.1:3128";
    const answer = await send("POST", "/sessions", { body: { proxyUrl, blockAds: true, solveCaptcha: true } });
    expect([answer.status, answer.headers.get("x-shoal-ignored-fields")]).toEqual([
      201,
      "body.blockAds, body.solveCaptcha",
    ]);
    expect(answer.body).toMatchObject({ proxySource: "external" });
    expect(JSON.stringify(answer.body)).not.toContain("p4ssw0rd-x");
    expect(server.log()).not.toContain("p4ssw0rd-x");
  });

  it.each([
    ["a mobile device", { deviceConfig: { device: "mobile" } }, 501],
    ["Selenium", { isSelenium: true }, 501],
    ["a user agent", { userAgent: "Mine/1" }, 501],
    ["credentials", { credentials: {} }, 501],
    ["every extension", { extensionIds: ["all_ext"] }, 501],
    ["an invalid address of a proxy", { proxyUrl: "http://" }, 400],
    ["a cookie without a domain", { sessionContext: { cookies: [{ name: "a", value: "b" }] } }, 400],
    ["an unknown profile", { profileId: "none" }, 404],
    ["storage of a file", { sessionContext: { localStorage: { "file:///": { a: "b" } } } }, 400],
  ])("are refused with a sentence: %s", async (_what, body, status) => {
    const answer = await send("POST", "/sessions", { body });
    expect([answer.status, answer.body]).toEqual([status, { success: false, message: expect.any(String) as unknown }]);
  });
});

describe("an address to connect to", () => {
  it.each(["", "?apiKey=wrong", "&apiKey=wrong", "/?sessionId=other"])(
    "needs no key, and ignores %j after it",
    async (appended) => {
      const { websocketUrl } = await create();
      expect(websocketUrl).not.toContain("?");
      const client = await connectCdp(websocketUrl + appended);
      expect(await client.send("Browser.getVersion")).toHaveProperty("product");
      client.close();
      expect(server.log()).not.toContain(websocketUrl.split("/").at(-1));
    },
  );

  it("opens its session alone, and nothing after its end", async () => {
    const { id, websocketUrl } = await create();
    const forged = websocketUrl.replace(/.{6}$/, "aaaaaa");
    await expect(connectCdp(forged)).rejects.toThrow();
    await send("POST", `/sessions/${id}/release`);
    await expect(connectCdp(websocketUrl)).rejects.toThrow();
  });

  it("is also one with the key and a session", async () => {
    const sessionId = randomUUID();
    await create({ sessionId });
    const socket = `${server.baseUrl.replace(/^http/, "ws")}/steel?apiKey=${shop.key}&sessionId=${sessionId}`;
    const client = await connectCdp(socket);
    expect(await client.send("Browser.getVersion")).toHaveProperty("product");
    client.close();
    expect(server.log()).not.toContain(shop.key);
  });
});

describe("state", () => {
  it("is a context to read, and another session starts from it", async () => {
    const sessionContext = {
      cookies: [{ name: "user", value: "ann", url: site.url, sameSite: "None" }],
      localStorage: { [site.url]: { cart: "fish" } },
      indexedDB: { [site.url]: [] },
    };
    const answer = await send("POST", "/sessions", { body: { sessionContext } });
    expect([answer.status, answer.body]).toMatchObject([201, { status: "live" }]);
    expect(answer.headers.get("x-shoal-ignored-fields")).toBe("body.sessionContext.indexedDB");
    const { id, websocketUrl } = shapes.Session.parse(answer.body);
    expect(((await server.request("GET", "/profiles", { key: shop.key })).body as unknown[]).length).toBe(0);
    const client = await connectCdp(websocketUrl);
    await client.send("Target.createTarget", { url: `${site.url}/page` });
    await expect
      .poll(async () => {
        const context = shapes.SessionContext.parse((await send("GET", `/sessions/${id}/context`)).body);
        return [context.cookies?.some(({ name }) => name === "user"), context.localStorage?.[site.url]];
      })
      .toEqual([true, { cart: "fish" }]);
    const details = shapes.LiveDetails.parse((await send("GET", `/sessions/${id}/live-details`)).body);
    expect(details.pages.map(({ url }) => url)).toContain(`${site.url}/page`);
    expect(details.wsUrl).toBe(websocketUrl);
    client.close();
  });
});

describe("the computer", () => {
  it("moves, clicks, types, and takes pictures", async () => {
    const { id } = await create();
    const act = async (body: object) => (await send("POST", `/sessions/${id}/computer`, { body })).body;
    expect(await act({ action: "move_mouse", coordinates: [30, 40] })).toEqual({});
    expect(await act({ action: "get_cursor_position" })).toEqual({ output: "X=30,Y=40" });
    const clicked = await act({ action: "click_mouse", button: "left", screenshot: true });
    expect(z.object({ base64_image: z.string() }).parse(clicked).base64_image).toMatch(/^iVBOR/);
    expect(await act({ action: "press_key", keys: ["Control", "a"] })).toEqual({});
    expect(await act({ action: "type_text", text: "fish" })).toEqual({});
    expect(await act({ action: "scroll", delta_y: 1 })).toEqual({});
    expect(await act({ action: "wait", duration: 0.01 })).toEqual({});
    expect(await act({ action: "take_screenshot" })).toHaveProperty("base64_image");
    expect(await act({ action: "move_mouse" })).toMatchObject({ success: false });
    expect(await act({ action: "type_text", text: "a", hold_keys: ["Shift"] })).toMatchObject({ success: false });
  });
});

describe("files", () => {
  const formOf = (content: string, path?: string) => {
    const form = new FormData();
    form.append("file", new File([content], "a.txt"));
    if (path !== undefined) form.append("path", path);
    return form;
  };

  it("are uploaded, listed, read and deleted by paths with slashes", async () => {
    const { id } = await create();
    const files = `/sessions/${id}/files`;
    expect((await send("GET", files)).body).toEqual({ data: [] });
    const plain = shapes.StoredFile.parse((await send("POST", files, { body: formOf("one") })).body);
    expect(plain).toMatchObject({ path: expect.stringMatching(/^\/.*\/a\.txt$/) as unknown, size: 3 });
    const nested = shapes.StoredFile.parse((await send("POST", files, { body: formOf("two", "b/c d.txt") })).body);
    expect(nested.path).toBe(plain.path.replace("a.txt", "b/c d.txt"));
    expect((await send("GET", `${files}/b/c%20d.txt`)).body).toBe("two");
    expect((await send("GET", `${files}/${encodeURI(nested.path)}`)).body).toBe("two");
    const listed = shapes.StoredFiles.parse((await send("GET", files)).body).data.map(({ path }) => path);
    expect(listed.toSorted()).toEqual([plain.path, nested.path].toSorted());
    expect((await send("GET", `${files}.zip`)).body).toMatch(/^PK/);
    expect((await send("DELETE", `${files}/b/c%20d.txt`)).status).toBe(204);
    expect((await send("GET", `${files}/b/c%20d.txt`)).status).toBe(404);
    expect((await send("DELETE", files)).status).toBe(204);
    expect((await send("GET", files)).body).toEqual({ data: [] });
  });

  it("leave nothing when their upload fails", async () => {
    const { id } = await create();
    const files = `/sessions/${id}/files`;
    await send("POST", files, { body: formOf("kept", "folder/a.txt") });
    const twice = formOf("one");
    twice.append("file", new File(["two"], "b.txt"));
    const unknown = formOf("one");
    unknown.append("zz", "1");
    for (const body of [formOf("x", "../a"), twice, formOf("x", "folder"), formOf("x", "folder/a.txt/b")])
      expect((await send("POST", files, { body })).status).toBeGreaterThanOrEqual(400);
    await send("POST", files, { body: unknown });
    const client = new AbortController();
    const stream = new ReadableStream({
      start(controller) {
        controller.enqueue(
          Buffer.from(
            '--b\r\nContent-Disposition: form-data; name="file"; filename="c.txt"\r\nContent-Type: text/plain\r\n\r\nbegun',
          ),
        );
      },
    });
    const left = async () =>
      (await server.request("GET", `/browsers/${id}/fs/list_files?path=/tmp/.steel-uploads`, { key: shop.key })).body;
    const gone = fetch(`${server.baseUrl}/steel/v1${files}`, {
      method: "POST",
      headers: { "steel-api-key": shop.key, "content-type": "multipart/form-data; boundary=b" },
      body: stream,
      duplex: "half",
      signal: client.signal,
    } as RequestInit).catch((error: unknown) => error);
    await expect.poll(left).not.toEqual([]);
    client.abort();
    await gone;
    await expect.poll(left).toEqual([]);
    expect((await send("GET", `${files}/folder/a.txt`)).body).toBe("kept");
  });

  it.each(["../a", "a/../../b", "a//b", "a/./b", "..%2Fa"])("stay in their folder: %s", async (path) => {
    const { id } = await create();
    const refused = await send("POST", `/sessions/${id}/files`, { body: formOf("x", decodeURIComponent(path)) });
    expect(refused.status).toBe(400);
    const read = await send("GET", `/sessions/${id}/files/${encodeURIComponent(decodeURIComponent(path))}`);
    expect(read.status).toBe(400);
  });
});

describe("pages without a session", () => {
  it("are scraped, and answered as pictures and PDFs", async () => {
    const body = { url: `${site.url}/page`, format: ["html", "markdown"], screenshot: true };
    const scraped = shapes.Scraped.parse((await send("POST", "/scrape", { body })).body);
    expect(scraped.content.html).toContain('<p id="late">by script</p>');
    expect(scraped.content.markdown).toContain("# Fish & chips");
    expect(scraped.metadata).toMatchObject({ statusCode: 200, title: "Shop", urlSource: `${site.url}/page` });
    expect(scraped.links).toEqual([{ url: `${site.url}/other`, text: "Other" }]);
    expect(scraped.screenshot?.url).toMatch(/^data:image\/png;base64,/);
    const url = { url: `${site.url}/page` };
    const picture = shapes.FileUrl.parse((await send("POST", "/screenshot", { body: url })).body);
    expect(
      Buffer.from(await (await fetch(picture.url)).arrayBuffer())
        .subarray(1, 4)
        .toString(),
    ).toBe("PNG");
    const pdf = shapes.FileUrl.parse((await send("POST", "/pdf", { body: { ...url, delay: 10 } })).body);
    expect(await (await fetch(pdf.url)).text()).toMatch(/^%PDF-/);
  });

  it.each([
    ["/scrape", { url: "https://a.example", format: ["readability"] }, 501],
    ["/scrape", { url: "https://a.example", useProxy: true }, 501],
    ["/screenshot", { url: "file:///etc/passwd" }, 400],
    ["/pdf", { url: "http://169.254.169.254/" }, 409],
    ["/search", { query: "fish" }, 501],
    ["/sessions/any/captchas/solve", {}, 501],
  ])("are refused with a sentence: %s %j", async (path, body, status) => {
    const answer = await send("POST", path, { body });
    expect([answer.status, answer.body]).toMatchObject([status, { success: false }]);
  });
});
