import { ApiError, Shoal } from "@shoal/client";
import { eventually, filesBelow } from "@shoal/testkit";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { McpConnection } from "../mcp/mcp-clients.ts";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const password = `Tr0ub4dor&3 "pl ain"/+${crypto.randomUUID()}`;
const username = `ada-${crypto.randomUUID()}@example.com`;

const on = { enabled: true };

/** A page that repeats typed values in every place that it has. */
const echoing = `<!doctype html><title>Sign in</title>
  <form action="/signed-in"><label>User <input name=u></label><label>Password <input name=p id=p></label>
    <label>Short <input name=short maxlength=4></label><button>Log in</button></form>
  <p id=out></p><div id=attribute></div><label>Free <textarea id=free></textarea></label>
  <script>
    addEventListener("input", ({ target }) => {
      const value = target.value;
      if (value.length < 6) return;
      console.log("typed " + value, { value }, [btoa(value)]);
      console.error(new Error(value));
      setTimeout(() => { throw new Error("later " + value); });
      document.title = "Hello " + value;
      out.textContent = "You typed " + value + ".";
      attribute.setAttribute("aria-label", value); attribute.setAttribute("role", "note"); attribute.dataset.x = value;
      fetch("/echo?q=" + encodeURIComponent(value), { method: "POST", body: JSON.stringify({ note: value, more: btoa("x:" + value) }) });
      fetch("/echo", { method: "POST", body: new URLSearchParams({ note: value }), headers: { "x-note": encodeURIComponent(value) } });
      history.replaceState(null, "", "#" + value);
      localStorage.note = value;
      new WebSocket("ws://" + location.host + "/socket?q=" + encodeURIComponent(value));
      performance.mark(value);
    }, true);
  </script>`;

async function bodyOf(request: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of request) text += String(chunk);
  return text;
}

/** What the site received, to see that the values arrive. */
let received = "";
/** The answer of a page that the site holds back. */
const held = Promise.withResolvers<ServerResponse>();
async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const url = decodeURIComponent((request.url ?? "").replaceAll("+", " "));
  const body = await bodyOf(request);
  received += `${url}\n${body}\n`;
  response.setHeader("content-type", request.url?.startsWith("/echo") === true ? "application/json" : "text/html");
  if (request.url?.startsWith("/echo") === true) response.end(JSON.stringify({ you_sent: body, url }));
  else if (request.url?.startsWith("/signed-in") === true) response.end(`<title>Welcome ${url}</title><p>${url}</p>`);
  else if (request.url?.startsWith("/frames") === true)
    response.end(
      `<title>Frames</title><iframe src="http://localhost:${request.headers.host?.split(":")[1] ?? ""}/"></iframe>`,
    );
  else if (request.url?.startsWith("/held") === true) held.resolve(response);
  else if (request.url?.startsWith("/codes") === true)
    response.end(`<title>Codes</title><div>${"<input maxlength=1 class=cell>".repeat(6)}</div><input id=code>`);
  else response.end(echoing);
}

const formsOf = (secret: string) => [
  secret,
  encodeURIComponent(secret),
  new URLSearchParams({ a: secret }).toString().slice(2),
  JSON.stringify(secret).slice(1, -1),
  JSON.stringify(JSON.stringify(secret)).slice(3, -3),
  secret.replaceAll("&", "&amp;").replaceAll('"', "&quot;"),
  // Without the ends, which depend on their neighbours.
  ...["", "x", "xy"].map((before) =>
    Buffer.from(before + secret)
      .toString("base64")
      .slice(4, -6),
  ),
];

function expectNone(where: string, text: string): void {
  for (const secret of [password, username])
    for (const form of formsOf(secret)) {
      const at = text.indexOf(form);
      expect(at, `${where}: …${text.slice(Math.max(0, at - 200), Math.max(0, at) + 100)}`).toBe(-1);
    }
}

/** As a person with the address reads it. */
async function clipboardIn(liveView: string): Promise<string> {
  const socket = new WebSocket(`${liveView.split("?", 1)[0]?.replace(/^http/, "ws") ?? ""}/socket`);
  const read = Promise.withResolvers<string>();
  socket.onerror = () => {
    read.reject(new Error("The live view closed."));
  };
  socket.onmessage = ({ data }) => {
    const message = (typeof data === "string" ? JSON.parse(data) : {}) as { type?: string; text?: string };
    // The page is shown from then on.
    if (message.type === "size") socket.send(JSON.stringify({ type: "read_clipboard" }));
    if (message.type === "clipboard") read.resolve(message.text ?? "");
  };
  try {
    return await read.promise;
  } finally {
    socket.close();
  }
}

describe("stored values in actions", () => {
  let site: Site;
  beforeAll(async () => {
    site = await serveSite((request, response) => void answer(request, response));
  });
  afterAll(async () => {
    await site.close();
  });
  const test = useService(() => ["--allow-private-hosts", "127.0.0.1", "--allow-private-hosts", "localhost"]);

  async function store(name: string, domain: string, values: Record<string, string> = { username, password }) {
    return test.shoal.credentials.create({ name, domain, values, totp_secret: "JBSWY3DPEHPK3PXP" });
  }

  it("types them, and no answer, event, log or file contains them", async () => {
    const { browsers } = test.shoal;
    await store("echo", site.host);
    let answers = "";
    const keep = async <T>(answered: Promise<T>): Promise<T> => {
      const value = await answered;
      answers += `${JSON.stringify(value)}\n`;
      return value;
    };
    const made = await keep(
      browsers.create({
        timeout_seconds: 600,
        telemetry: { browser: { console: on, network: on, page: on, control: on, connection: on, interaction: on } },
      }),
    );
    const id = made.session_id;
    await keep(browsers.act(id, { type: "navigate", url: site.url }));
    for (const [selector, field] of [
      ["[name=u]", "username"],
      ["#p", "password"],
    ] as const) {
      const filled = await keep(
        browsers.act(id, { type: "fill", selector, secret: { credential: "echo", field }, observe: {} }),
      );
      expect(filled.element?.value).toBeUndefined();
      expect(filled.observation).toMatchObject({ title: "Hello ***" });
    }
    await keep(browsers.observe(id, { diff: true }));
    await keep(browsers.observe(id));
    await keep(browsers.read(id, { content: "all" }));
    for (let offset = 0; offset < 60; offset += 7)
      await keep(browsers.read(id, { content: "all", offset }).then(undefined, (error: unknown) => String(error)));
    const seen = await browsers.playwright.execute(id, {
      code: `return { html: await page.content(), value: await page.inputValue("#p"), title: await page.title(), url: page.url() };`,
    });
    await keep(Promise.resolve(seen));
    expect(JSON.stringify(seen)).toContain("***");
    await browsers.playwright.execute(id, {
      code: `await context.grantPermissions(["clipboard-read", "clipboard-write"]);
        await page.evaluate(() => navigator.clipboard.writeText(document.querySelector("#out").textContent));`,
    });
    const clipboard = await keep(clipboardIn(made.browser_live_view_url ?? ""));
    expect(clipboard).toBe("You typed ***.");
    const mcp = await McpConnection.overHttp(test, "tools=all");
    await keep(mcp.call("snapshot", { browser: id }).catch(String));
    await mcp[Symbol.asyncDispose]();
    await keep(browsers.act(id, { type: "click", selector: "text-that-is-missing", timeout_ms: 0 }).catch(String));
    await keep(browsers.act(id, { type: "click", role: "button", name: "Log in", observe: {} }));
    await keep(browsers.read(id));
    await keep(browsers.get(id));
    expect(received).toContain(password);
    expect(received).toContain(username);
    const events: unknown[] = [];
    await eventually("the last request is in the telemetry", async () => {
      const page = await browsers.telemetry.events(id, { limit: 100, order: "desc" });
      return JSON.stringify(page.items).includes("/signed-in");
    });
    await browsers.delete(id);
    for await (const event of await browsers.telemetry.events(id, { limit: 100 })) events.push(event);
    expect(JSON.stringify(events)).toContain("typed ***");
    const start = new Date(Date.now() - 600_000).toISOString();
    await eventually("the use is in the audit log", async () => {
      const page = await test.shoal.auditLogs.list({ start, end: new Date(Date.now() + 60_000).toISOString() });
      answers += JSON.stringify(page.items);
      return JSON.stringify(page.items).includes("credentials.use");
    });
    expectNone("answers", answers);
    expectNone("telemetry", JSON.stringify(events));
    for (const [path, content] of filesBelow(test.folder)) expectNone(path, content);
  });

  it("types a one-time code in fields of one character each, and hides them", async () => {
    const { browsers } = test.shoal;
    await store("codes", site.host);
    const { session_id: id } = await browsers.create({ timeout_seconds: 600 });
    await browsers.act(id, { type: "navigate", url: `${site.url}codes` });
    const secret = { credential: "codes", field: "totp_code" };
    await browsers.act(id, { type: "fill", selector: ".cell:first-child", secret });
    const { result } = await browsers.playwright.execute(id, {
      code: `return await page.$$eval(".cell", (cells) => cells.map((one) => one.value.length + getComputedStyle(one).webkitTextSecurity))`,
    });
    expect(result).toEqual(Array(6).fill("1disc"));
    await browsers.delete(id);
  });

  it("leaves no last picture, because the page may repeat a value", async () => {
    const { browsers } = test.shoal;
    // Too short to be replaced in texts.
    await store("pictured", site.host, { username, password, pin: "4711" });
    for (const [field, isStored] of [
      ["none", false],
      ["password", true],
      ["pin", true],
      ["totp_code", true],
    ] as const) {
      const { session_id: id } = await browsers.create({ telemetry: { browser: { page: on } } });
      await browsers.act(id, { type: "navigate", url: site.url });
      const what = isStored ? { secret: { credential: "pictured", field } } : { text: "typed by the caller" };
      await browsers.act(id, { type: "fill", selector: "#p", ...what });
      // Also on the page after it.
      await browsers.act(id, { type: "click", role: "button", name: "Log in" });
      await browsers.delete(id);
      const kept = browsers.telemetry.lastPicture(id).then(() => true);
      if (isStored) await expect(kept, field).rejects.toMatchObject({ status: 404 });
      else await expect(kept, field).resolves.toBe(true);
    }
  });

  it("types nothing on other sites, in their frames, and where a part would fit", async () => {
    const { browsers } = test.shoal;
    await store("bound", site.host);
    await store("elsewhere", "shop.example");
    await store("wildcard", "*.shop.example").catch(() => undefined);
    const { session_id: id } = await browsers.create({ timeout_seconds: 600 });
    const before = received;
    const refusal = async (act: Parameters<typeof browsers.act>[1]) => {
      const error: unknown = await browsers.act(id, { timeout_ms: 2_000, ...act }).then(
        () => "typed",
        (reason: unknown) => reason,
      );
      if (!(error instanceof ApiError)) return expect.fail(String(error));
      expectNone("the error", error.message);
      return error;
    };
    await browsers.act(id, { type: "navigate", url: site.url });
    const elsewhere = { credential: "elsewhere", field: "password" };
    const wrong = await refusal({ type: "fill", selector: "#p", secret: elsewhere });
    expect(wrong).toMatchObject({ status: 403, code: "forbidden" });
    expect(wrong.message).toContain("body.secret");
    expect(wrong.message).toContain(`http://${site.host}`);
    expect(wrong.message).toContain("shop.example");
    const bound = { credential: "bound", field: "password" };
    expect(await refusal({ type: "fill", selector: "[name=short]", secret: bound })).toMatchObject({ status: 409 });
    expect(await refusal({ type: "fill", selector: "#free", secret: bound })).toMatchObject({ status: 409 });
    expect(await refusal({ type: "fill", selector: "#p", text: "x", secret: bound })).toMatchObject({ status: 400 });
    expect(await refusal({ type: "press", keys: ["a"], secret: bound })).toMatchObject({ status: 400 });
    for (const secret of [
      { credential: "missing", field: "password" },
      { credential: "bound", field: "missing" },
      { credential: "bound", field: "__proto__" },
    ])
      expect(await refusal({ type: "fill", selector: "#p", secret })).toMatchObject({ status: 404 });
    // Typed values cannot be copied to another page.
    await browsers.act(id, { type: "fill", selector: "#free", text: "free" });
    await browsers.act(id, { type: "fill", selector: "[name=u]", secret: { credential: "bound", field: "username" } });
    for (const keys of [["Control+A", "Control+C"], ["Control+X"]])
      await browsers.act(id, { type: "press", selector: "[name=u]", keys });
    await browsers.act(id, { type: "press", selector: "#free", keys: ["Control+A", "Control+V"] });
    const copied = await browsers.playwright.execute(id, { code: `return (await page.inputValue("#free")).split("")` });
    expect(String(copied.result).replaceAll(",", "")).not.toContain("example.com");
    const typed = await browsers.playwright.execute(id, { code: `return (await page.inputValue("[name=u]")).length` });
    expect(typed.result).toBe(username.length);
    received = before;
    await browsers.act(id, { type: "navigate", url: `${site.url}frames` });
    expect(await refusal({ type: "fill", selector: "#p", secret: bound })).toMatchObject({ status: 403 });
    const { result } = await browsers.playwright.execute(id, {
      code: `return await Promise.all(page.frames().map((frame) => frame.evaluate(() => [...document.querySelectorAll("input")].map((one) => one.value).join(""))))`,
    });
    expect(result).toEqual(["", ""]);
    expect(received.slice(before.length)).not.toContain("echo");
    await browsers.delete(id);
  });

  it("closes the files of all tabs before it types, and opens none that an action waits to open", async () => {
    const { browsers } = test.shoal;
    await store("files", site.host);
    const { session_id: id } = await browsers.create({ timeout_seconds: 600 });
    const shownTabs = async () => (await browsers.observe(id)).tabs;
    // The history of the first tab has a file, the second shows one, and the third is to open one.
    await browsers.act(id, { type: "navigate", url: "file:///etc/" });
    await browsers.act(id, { type: "navigate", url: site.url });
    const { tab: first } = await browsers.act(id, { type: "wait_for", selector: "#p" });
    await browsers.act(id, { type: "open_tab", url: "file:///etc/" });
    await browsers.act(id, { type: "open_tab", url: `${site.url}codes` });
    const [, listing, asked] = await shownTabs();
    expect(listing?.url).toBe("file:///etc/");
    const tab = asked?.id ?? "";
    // The page of another tab goes on loading while the value is typed.
    const loads = browsers.act(id, { type: "navigate", tab, url: `${site.url}held`, timeout_ms: 60_000 });
    const page = await held.promise;
    const queued = browsers.act(id, { type: "navigate", tab, url: "file:///proc/self/environ" });
    const refused = expect(queued).rejects.toMatchObject({ status: 403 });
    await browsers.act(id, {
      type: "fill",
      tab: first,
      selector: "#p",
      secret: { credential: "files", field: "password" },
    });
    expect((await shownTabs()).map(({ url }) => url.startsWith("file:"))).toEqual([false, false, false]);
    for (const each of [first, listing?.id ?? ""])
      await expect(browsers.act(id, { type: "back", tab: each })).rejects.toMatchObject({ code: "navigation_failed" });
    page.end("<title>Held</title>");
    await Promise.all([loads, refused]);
    expect((await shownTabs())[2]?.url).toBe(`${site.url}held`);
    await browsers.delete(id);
  });

  it("needs the right to stored values, and closes programs to callers without it", async () => {
    const { apiKeys, browsers, credentials, projects } = test.shoal;
    await store("rights", site.host);
    const secret = { credential: "rights", field: "password" };
    const { session_id: id } = await browsers.create({ timeout_seconds: 600 });
    await browsers.act(id, { type: "navigate", url: site.url });
    const limited = async (operations: readonly string[], role?: "operator" | "viewer") => {
      const { key } = await apiKeys.create({
        name: `limited-${crypto.randomUUID()}`,
        ...(operations.length > 0 && { operations: [...operations] }),
        ...(role && { role }),
      });
      return new Shoal({ baseUrl: test.service.baseUrl, apiKey: key });
    };
    const fill = (shoal: Shoal) => shoal.browsers.act(id, { type: "fill", selector: "#p", secret, timeout_ms: 2_000 });
    const operator = await limited([], "operator");
    await expect(fill(operator)).rejects.toMatchObject({ status: 403 });
    await expect(fill(await limited(["browsers.*"]))).rejects.toMatchObject({ status: 403 });
    expect(await operator.browsers.playwright.execute(id, { code: "return 1" })).toMatchObject({ result: 1 });
    await operator.browsers.webmcp.addCustomTools(id, {
      namespace: "before",
      source: `[{ kind: "page", match: { url_patterns: ["*://*/*"] }, tool: { name: "peek", description: "Test" }, execute: () => btoa(document.querySelector("#p").value) }]`,
    });
    const [peek] = (await operator.browsers.webmcp.listTools(id)).tools;
    const call = { tool_ref: peek?.tool_ref ?? "", input: {} };
    expect(await operator.browsers.webmcp.invokeTool(id, call)).toMatchObject({ status: "completed" });
    // A role in one session includes no credential of the project.
    const narrow = await apiKeys.create({ name: `narrow-${crypto.randomUUID()}`, role: "admin", browser_ids: [id] });
    await expect(fill(new Shoal({ baseUrl: test.service.baseUrl, apiKey: narrow.key }))).rejects.toMatchObject({
      status: 403,
    });
    const user = await limited(["browsers.*", "credentials.use"]);
    await fill(user);
    for (const shoal of [user, operator]) {
      await expect(shoal.browsers.playwright.execute(id, { code: "return 1" })).rejects.toMatchObject({ status: 403 });
      await expect(shoal.browsers.webmcp.invokeTool(id, call)).rejects.toMatchObject({ status: 403 });
      const file = "file:///etc/passwd";
      await expect(shoal.browsers.act(id, { type: "navigate", url: file })).rejects.toMatchObject({ status: 403 });
      await expect(shoal.browsers.act(id, { type: "open_tab", url: file })).rejects.toMatchObject({ status: 403 });
      const upload = { type: "upload" as const, selector: "body", paths: ["/proc/self/environ"] };
      await expect(shoal.browsers.act(id, upload)).rejects.toMatchObject({ status: 403 });
      await expect(shoal.browsers.update(id, { start_url: file })).rejects.toMatchObject({ status: 403 });
      expect(JSON.stringify(await shoal.browsers.observe(id))).toContain("***");
    }
    // Of another project, by id and by name, and a name that is the id of another credential.
    const projectOfOthers = await projects.create({ name: `other-${crypto.randomUUID().slice(0, 8)}` });
    const other = new Shoal({
      baseUrl: test.service.baseUrl,
      apiKey: test.service.apiKey,
      project: projectOfOthers.id,
    });
    const foreign = await other.credentials.create({ name: "foreign", domain: site.host, values: { password } });
    for (const credential of ["foreign", foreign.id])
      await expect(
        browsers.act(id, { type: "fill", selector: "#p", secret: { credential, field: "password" } }),
      ).rejects.toMatchObject({ status: 404 });
    const mine = await credentials.get("rights");
    await credentials.create({ name: mine.id, domain: "shop.example", values: { password: "another-password" } });
    await browsers.act(id, { type: "fill", selector: "#p", secret: { credential: mine.id, field: "password" } });
    await browsers.delete(id);
  });
});
