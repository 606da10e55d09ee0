import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { assignFiles, exchange, openPage, type Page } from "../../testing/profile-browser.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { readStateOf } from "../profile-state/archive.ts";

let site: Server;
let origin: string;
let requested: string[] = [];
let isMoved = false;

const form = `<form onsubmit="throw 1" onchange="document.title = 'changed'" oninput="globalThis.inputs = (globalThis.inputs ?? 0) + 1">
  <input name="q" value="default"><input type="password" name="p"><input name="api_key"><input type="hidden" name="csrf" value="a">
  <input type="checkbox" name="c"><input type="checkbox" name="c"><select name="s"><option>1<option>2<option>3</select>
  <textarea name="t"></textarea></form><div style="height: 5000px; width: 3000px"></div>
  <script>setTimeout(() => { document.body.append(Object.assign(document.createElement("input"), { name: "late" })); }, 200);</script>`;

beforeAll(async () => {
  site = createServer((incoming, response) => {
    requested.push(incoming.url ?? "");
    if (isMoved && incoming.headers.host?.startsWith("127.0.0.1") === true) {
      response.writeHead(302, { location: `${origin.replace("127.0.0.1", "localhost")}${incoming.url ?? ""}` }).end();
      return;
    }
    if (incoming.url === "/login") response.setHeader("set-cookie", "session=2; HttpOnly; SameSite=Lax");
    response
      .setHeader("content-type", "text/html")
      .end(`<!doctype html><title>${incoming.url ?? ""} ${incoming.headers.cookie ?? "nobody"}</title>${form}`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  origin = `http://127.0.0.1:${String((site.address() as AddressInfo).port)}`;
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});
beforeEach(() => (requested = []));

const fill = `(() => {
  const field = (name, place = 0) => document.getElementsByName(name)[place];
  field("q").value = "half fil\\u2028led \\"';</script>"; field("p").value = "pass-secret"; field("api_key").value = "key-secret";
  field("csrf").value = "b"; field("c", 1).checked = true; field("s").selectedIndex = 2; field("t").value = "lines\\nof text";
  localStorage.setItem("theme", "dark"); sessionStorage.setItem("step", "3");
  scrollTo(120, 900);
  return new Promise((resolve) => { const look = () => field("late") ? resolve(field("late").value = "late") : setTimeout(look, 20); look(); });
})()`;
const look = `(() => {
  const field = (name, place = 0) => document.getElementsByName(name)[place];
  return { url: location.pathname + location.hash, title: document.title, scroll: [scrollX, scrollY], history: history.length,
    q: field("q")?.value, p: field("p")?.value, key: field("api_key")?.value, csrf: field("csrf")?.value,
    c: [field("c")?.checked, field("c", 1)?.checked], s: field("s")?.value, t: field("t")?.value, late: field("late")?.value,
    inputs: globalThis.inputs ?? 0, local: { ...localStorage }, session: { ...sessionStorage } };
})()`;

async function forkOf(instance: RunningInstance): Promise<Buffer> {
  const { body, status } = await exchange(instance, "GET", "profile/fork");
  expect(status, body.toString()).toBe(200);
  return body;
}

/** Evaluates in the page that was opened last. */
async function pagesOf(instance: RunningInstance) {
  const cdp = cdpClient(await instance.connect());
  const resultOf = async (method: string, params: object, session?: string): Promise<unknown> => {
    const { result, error } = await cdp.send(method, params, session);
    if (error !== undefined) throw new Error(JSON.stringify(error));
    return result;
  };
  const { targetInfos } = (await resultOf("Target.getTargets", {})) as {
    targetInfos: { type: string; url: string; targetId: string }[];
  };
  const pages = targetInfos.filter(({ type }) => type === "page");
  return {
    urls: pages.map(({ url }) => url.replace(origin, "")).sort(),
    async at(path: string) {
      const targetId = pages.find(({ url }) => url === origin + path || url === path)?.targetId;
      const { sessionId } = (await resultOf("Target.attachToTarget", { targetId, flatten: true })) as {
        sessionId: string;
      };
      return async (expression: string): Promise<unknown> => {
        const { result } = (await resultOf(
          "Runtime.evaluate",
          { expression, awaitPromise: true, returnByValue: true },
          sessionId,
        )) as { result: { value?: unknown } };
        return result.value;
      };
    },
  };
}

async function signedIn(instance: RunningInstance): Promise<Page> {
  await instance.assign({});
  const page = await openPage(instance);
  for (const path of ["/login", "/a", "/b", "/b#part", "/c"]) await page.goto(origin + path);
  return page;
}

describeChromium("a fork of a session", (chromium) => {
  it("has the tabs with their histories, storage, fields and scroll positions, and no field for secrets", async () => {
    await using parent = await runInstance({ chromium });
    const page = await signedIn(parent);
    await page.evaluate("void setTimeout(() => history.go(-1))");
    await expect.poll(() => page.evaluate("location.hash + document.readyState").catch(() => "")).toBe("#partcomplete");
    await page.evaluate(fill);
    const before = (await page.evaluate(look)) as Record<string, unknown>;
    expect(before.url).toBe("/b#part");
    const other = await openPage(parent);
    await other.goto(`${origin}/other`);
    const archive = await forkOf(parent);
    expect(JSON.stringify(await readStateOf(Readable.from([archive])))).not.toMatch(/pass-secret|key-secret/);

    await using child = await runInstance({ chromium });
    requested = [];
    const { body, status } = await assignFiles(child, { assign: { opens_tabs: true }, profile: archive });
    expect(status, body.toString()).toBe(200);
    // Only the present pages are loaded.
    expect(requested.filter((url) => !url.includes("favicon")).sort()).toEqual(["/b", "/other"]);
    const pages = await pagesOf(child);
    expect(pages.urls).toEqual(["/b#part", "/other", "about:blank"]);
    const evaluate = await pages.at("/b#part");
    const after = (await evaluate(look)) as Record<string, unknown>;
    expect(after).toEqual({
      ...before,
      title: "/b session=2",
      p: "",
      key: "",
      csrf: "a",
      // The late field is outside of the form.
      inputs: 4,
    });
    // The way back and forward leads to real pages.
    await evaluate("void setTimeout(() => history.go(-2))");
    await expect.poll(() => evaluate("document.title").catch(() => undefined)).toBe("/a session=2");
    await evaluate("void setTimeout(() => history.go(3))");
    await expect.poll(() => evaluate("document.title").catch(() => undefined)).toBe("/c session=2");
    // The parent did not notice it.
    expect(await page.evaluate(look)).toEqual(before);
  });

  it("goes on although a page of the parent does not answer", async () => {
    await using parent = await runInstance({ chromium });
    const page = await signedIn(parent);
    const hanging = page.evaluate("setTimeout(() => { for (;;); })");
    await hanging;
    const archive = await forkOf(parent);
    await using child = await runInstance({ chromium });
    expect((await assignFiles(child, { assign: { opens_tabs: true }, profile: archive })).status).toBe(200);
    expect((await pagesOf(child)).urls).toContain("/c");
  });

  it("has what fits of a page with more than a fork may have", async () => {
    await using parent = await runInstance({ chromium });
    const page = await signedIn(parent);
    await page.evaluate(`(() => {
      for (const name of Array(60).keys()) {
        const field = Object.assign(document.createElement("textarea"), { name: "n" + name, hidden: true, value: "x".repeat(90_000) });
        document.body.append(field);
      }
      localStorage.setItem("large", "x".repeat(3_000_000));
    })()`);
    const { tabs = [] } = (await readStateOf(Readable.from([await forkOf(parent)]))) ?? {};
    const content = tabs.find(({ history }) => history.at(-1)?.endsWith("/c"))?.content;
    expect(content?.fields.map(({ value = "" }) => value.length).filter(Boolean)).toEqual(
      Array<number>(23).fill(90_000),
    );
    expect(content).not.toHaveProperty("local_storage");
  });

  it("restores nothing in a page of another origin", async () => {
    await using parent = await runInstance({ chromium });
    const page = await signedIn(parent);
    await page.evaluate(fill);
    const archive = await forkOf(parent);
    await using child = await runInstance({ chromium });
    isMoved = true;
    try {
      expect((await assignFiles(child, { assign: { opens_tabs: true }, profile: archive })).status).toBe(200);
    } finally {
      isMoved = false;
    }
    const pages = await pagesOf(child);
    const moved = pages.urls.find((url) => url.endsWith("/c")) ?? "";
    expect(moved).toContain("//localhost:");
    expect(await (await pages.at(moved))(look)).toMatchObject({
      q: "default",
      t: "",
      inputs: 0,
      local: {},
      session: {},
    });
  });

  it("opens no tabs for a session that loads the archive as a profile", async () => {
    await using parent = await runInstance({ chromium });
    await signedIn(parent);
    const archive = await forkOf(parent);
    await using other = await runInstance({ chromium });
    expect((await assignFiles(other, { profile: archive })).status).toBe(200);
    expect((await pagesOf(other)).urls).toEqual(["about:blank"]);
  });
});
