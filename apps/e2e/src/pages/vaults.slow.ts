import { ApiError, Shoal } from "@shoal/client";
import type { OperateVaultItem } from "@shoal/schemas";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";

const test = useService(() => ["--allow-private-hosts", "127.0.0.1", "--allow-private-hosts", "localhost"]);

it("collects values from a person in a form of the service", async () => {
  const { browsers, vaults } = test.shoal;
  const { id } = await vaults.create({ name: "collected" });
  const { action } = await vaults.items.put(id, "shop", {
    type: "credential",
    spec: {
      provider: "kernel",
      description: "Shop <b>",
      fields: [
        { name: "username", type: "text", sensitive: false, value: "ada" },
        { name: "password", type: "password", label: "Pass phrase" },
        { name: "mail", type: "email", required: false, sensitive: false },
        { name: "email_note", type: "text", required: false, sensitive: false, value: " two\nlines " },
      ],
    },
  });
  await using browser = await browsers.create();
  const session = browser.session_id;
  await browsers.act(session, { type: "navigate", url: action?.url ?? "" });
  await browsers.act(session, { type: "wait_for", role: "button", name: "Save" });
  expect((await browsers.observe(session)).outline).toContain("Shop <b>");
  await browsers.act(session, { type: "fill", role: "textbox", name: "username", text: "grace" });
  await browsers.act(session, { type: "click", role: "button", name: "Save" });
  expect((await vaults.items.get(id, "shop")).state.status).toBe("pending_collection");
  await browsers.act(session, { type: "fill", selector: "input[type=password]", text: "entered-phrase" });
  await browsers.act(session, { type: "fill", role: "textbox", name: "mail (optional)", text: "not an address" });
  await browsers.act(session, { type: "click", role: "button", name: "Save" });
  await browsers.act(session, { type: "wait_for", text: "Enter an email address." });
  await browsers.act(session, { type: "fill", role: "textbox", name: "mail (optional)", text: "" });
  await browsers.act(session, { type: "click", role: "button", name: "Save" });
  expect((await vaults.items.get(id, "shop", { wait: 60 })).state).toMatchObject({
    status: "ready",
    fields: {
      username: { value: "grace" },
      password: { has_value: true },
      mail: { has_value: false },
      // The person did not change it.
      email_note: { value: " two\nlines " },
    },
  });
});

const password = `pass-${crypto.randomUUID()}`;
let received = "";
let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    const path = request.url ?? "";
    if (path !== "/favicon.ico") received += `${path}\n`;
    if (path.startsWith("/frames")) {
      const frame = `http://localhost:${request.headers.host?.split(":")[1] ?? ""}/`;
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(`<title>Frames</title><input id=own><iframe src="${frame}"></iframe>`);
      return;
    }
    if (path.startsWith("/alerts")) {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(`<title>Alerts</title><input id=p oninput="setTimeout(() => alert('wrong ' + this.value), 100)">`);
      return;
    }
    if (path.startsWith("/refuses")) {
      response
        .writeHead(200, { "content-type": "text/html" })
        .end(`<title>Refuses</title><input id=p oninput="this.value = ''">`);
      return;
    }
    if (path.startsWith("/swaps")) {
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<title>Swaps</title><input id=u><input id=p type=password>
         <script>u.oninput = () => { p.outerHTML = "<input id=p>"; };</script>`,
      );
      return;
    }
    response.writeHead(200, { "content-type": "text/html" }).end(
      `<title>Sign in</title><form action=/in><input id=u name=u><input id=p name=p type=password><input id=c name=c>
       <input class=two><input class=two><input id=locked readonly><textarea id=free></textarea><button>Go</button></form>`,
    );
  });
});
afterAll(() => site.close());

describe("filling from a vault", () => {
  const stored = async (spec: object = {}) => {
    const vault = await test.shoal.vaults.create({ name: `vault-${crypto.randomUUID()}` });
    await test.shoal.vaults.items.put(vault.id, "shop", {
      type: "credential",
      spec: {
        provider: "kernel",
        fields: [
          { name: "username", type: "text", sensitive: false, value: "ada" },
          { name: "password", type: "password", value: password },
          { name: "code", type: "totp", value: "JBSWY3DPEHPK3PXP" },
          { name: "empty", type: "text", required: false },
        ],
        ...spec,
      },
    });
    return vault;
  };
  const open = async (vaults: { name: string }[], url = `${site.url}?a=1#top`) => {
    const browser = await test.shoal.browsers.create({ vaults });
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url });
    return browser;
  };
  const valuesIn = async (browser: { readonly session_id: string }, ...selectors: string[]): Promise<unknown[]> => {
    const code = `return await Promise.all(${JSON.stringify(selectors)}.map((one) => page.locator(one).inputValue()))`;
    const { result } = await test.shoal.browsers.playwright.execute(browser.session_id, { code });
    return result as unknown[];
  };
  const bindings = (...pairs: [field: string, selector: string][]) =>
    pairs.map(([field, selector]) => ({ field, selector }));
  const fill = (
    vault: { readonly id: string },
    browser: { readonly session_id: string },
    change: Partial<OperateVaultItem> = {},
  ) =>
    test.shoal.vaults.items.operate(vault.id, "shop", {
      type: "fill",
      browser_id: browser.session_id,
      page_url: `${site.url}?a=1#top`,
      fields: bindings(["username", "#u"], ["password", "#p"], ["code", "#c"]),
      ...change,
    });

  it("types values and a one-time code into the fields of the page, and submits nothing", async () => {
    const vault = await stored();
    await using browser = await open([{ name: vault.name }]);
    expect(browser.vaults).toEqual([{ id: vault.id, name: vault.name }]);
    expect((await test.shoal.vaults.items.get(vault.id, "shop")).available_operations.map(({ type }) => type)).toEqual([
      "collect",
      "fill",
    ]);
    received = "";
    expect(await fill(vault, browser)).toEqual({
      type: "fill",
      status: "completed",
      fields: [0, 1, 2].map((index) => ({ index, status: "filled" })),
    });
    expect(received).toBe("");
    await test.shoal.browsers.act(browser.session_id, { type: "click", role: "button", name: "Go" });
    await expect.poll(() => received).toMatch(new RegExp(`/in\\?u=ada&p=${password}&c=\\d{6}\n`));
    const events = await test.shoal.vaults.items.events(vault.id, "shop");
    expect(events.at(-1)).toMatchObject({ name: "filled", browser_id: browser.session_id });
    expect(JSON.stringify(events)).not.toContain(password);
  });

  it("types values in a browser of a pool", async () => {
    const vault = await stored();
    const pool = await test.shoal.browserPools.create({ size: 1, vaults: [{ id: vault.id }] });
    const leased = await test.shoal.browserPools.acquire(pool.id, { acquire_timeout_seconds: 600 });
    if (leased === undefined) throw new Error("The pool started no browser.");
    expect(leased.vaults).toEqual([{ id: vault.id, name: vault.name }]);
    await test.shoal.browsers.act(leased.session_id, { type: "navigate", url: `${site.url}?a=1#top` });
    expect(await fill(vault, leased)).toMatchObject({ status: "completed" });
    expect(await valuesIn(leased, "#u")).toEqual(["ada"]);
    await test.shoal.browserPools.delete(pool.id, { force: true });
  });

  it("looks at every field before the first one is filled", async () => {
    const vault = await stored();
    await using browser = await open([{ name: vault.name }]);
    for (const [selector, error_code] of [
      ["#missing", "element_not_found"],
      [".two", "ambiguous_selector"],
      ["#locked", "element_not_editable"],
      ["#free", "element_not_editable"],
    ] as const)
      expect(await fill(vault, browser, { fields: bindings(["username", "#u"], ["password", selector]) })).toEqual({
        type: "fill",
        status: "failed",
        fields: [
          { index: 0, status: "not_attempted" },
          { index: 1, status: "failed", error_code },
        ],
      });
    expect(await valuesIn(browser, "#u")).toEqual([""]);
    for (const [change, problem] of [
      [{ fields: bindings(["username", "#u"], ["password", "#u"]) }, "400 body.fields[1].selector"],
      [{ fields: bindings(["username", "]"]) }, "400 body.fields[0].selector"],
      [{ fields: bindings(["empty", "#u"]) }, "400 body.fields[0].field"],
      [{ fields: bindings(["other", "#u"]) }, "400 body.fields[0].field"],
      [{ page_url: `${site.url}?a=1` }, "409 body.page_url"],
      [{ page_url: "http://example.com/" }, "400 body.page_url"],
      [{ browser_id: "missing" }, "404 body.browser_id"],
    ] as const)
      expect(await problemOf(fill(vault, browser, change as Partial<OperateVaultItem>))).toBe(problem);
  });

  it("takes the only page if the request names none, and its origin alone", async () => {
    const vault = await stored();
    await using browser = await open([{ name: vault.name }]);
    expect(await fill(vault, browser, { page_url: undefined })).toMatchObject({ status: "completed" });
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: `${site.url}frames` });
    const fields = bindings(["username", "#own"], ["password", "#p"]);
    expect(await problemOf(fill(vault, browser, { fields, page_url: undefined }))).toBe("403 body.fields[1]");
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: "about:blank" });
    expect(await problemOf(fill(vault, browser, { page_url: undefined }))).toBe("400 body.page_url");
    await test.shoal.browsers.playwright.execute(browser.session_id, { code: "await context.newPage()" });
    expect(await problemOf(fill(vault, browser, { page_url: undefined }))).toBe("409 body.page_url");
  });

  it("types nothing if a field is in a frame of another site", async () => {
    const vault = await stored();
    const page_url = `${site.url}frames`;
    await using browser = await open([{ name: vault.name }], page_url);
    const fields = bindings(["username", "#own"], ["password", "#p"]);
    expect(await problemOf(fill(vault, browser, { fields, page_url }))).toBe("403 body.fields[1]");
    expect((await valuesIn(browser, "#own"))[0]).toBe("");
  });

  it("types into the element that it checked only, and remembers no reference for flows", async () => {
    const vault = await stored();
    const page_url = `${site.url}swaps`;
    await using browser = await open([{ name: vault.name }], page_url);
    expect(await fill(vault, browser, { fields: bindings(["username", "#u"], ["password", "#p"]), page_url })).toEqual({
      type: "fill",
      status: "failed",
      fields: [
        { index: 0, status: "filled" },
        { index: 1, status: "failed", error_code: "target_changed" },
      ],
    });
    expect(await valuesIn(browser, "#u", "#p")).toEqual(["ada", ""]);
    const { flow } = await test.shoal.flows.record(browser.session_id, { name: vault.name });
    expect(flow.steps).toEqual([expect.objectContaining({ action: "fill", text: "{{u}}" })]);
    expect(JSON.stringify(flow)).not.toContain("ada");
  });

  it("shows no value in an error, and reports a value that the page had as unknown", async () => {
    const vault = await stored();
    const page_url = `${site.url}refuses`;
    await using browser = await open([{ name: vault.name }], page_url);
    const fields = bindings(["password", "#p"]);
    expect(await fill(vault, browser, { fields, page_url })).toMatchObject({ fields: [{ status: "unknown" }] });
    const alerts = `${site.url}alerts`;
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: alerts });
    await expect
      .poll(async () => fill(vault, browser, { fields, page_url: alerts }).then(() => "", String))
      .toContain("dialog (alert)");
    expect(await fill(vault, browser, { fields, page_url: alerts }).then(String, String)).not.toContain(password);
  });

  it("types on the sites of the item only, and in sessions with the vault only", async () => {
    const { port } = new URL(site.url);
    const other = `http://localhost:${port}/`;
    const vault = await stored({ sites: [site.host] });
    await using browser = await open([{ name: vault.name }], other);
    expect(await problemOf(fill(vault, browser, { page_url: other }))).toBe("403 body.fields[0]");
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: site.url });
    expect(await fill(vault, browser, { page_url: undefined })).toMatchObject({ status: "completed" });
    await using without = await open([]);
    expect(await problemOf(fill(vault, without))).toBe("409 body.browser_id");
    expect(await problemOf(test.shoal.browsers.create({ vaults: [{ name: "missing" }] }))).toBe("404 body.vaults[0]");
  });

  it("reads the credential of a connection, and types on its sites only", async () => {
    const { auth, credentials, vaults } = test.shoal;
    const name = `login-${crypto.randomUUID()}`;
    await credentials.create({ name, domain: site.host, values: { username: "ada", password } });
    const connection = await auth.connections.create({ domain: site.host, profile_name: name, credential: { name } });
    const vault = await vaults.create({ name });
    await vaults.items.put(vault.id, "shop", {
      type: "credential",
      spec: { provider: "managed_auth", connection_id: connection.id },
    });
    await using browser = await open([{ name }]);
    const fields = bindings(["username", "#u"], ["password", "#p"]);
    expect(await fill(vault, browser, { fields })).toMatchObject({ status: "completed" });
    const other = `http://localhost:${new URL(site.url).port}/`;
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: other });
    expect(await problemOf(fill(vault, browser, { fields, page_url: other }))).toBe("403 body.fields[0]");
  });

  it("needs vaults:use, and a right to the session", async () => {
    const { apiKeys, projects } = test.shoal;
    const vault = await stored();
    const [{ id: project } = { id: "" }] = (await projects.list({ query: "default" })).items;
    const clientOf = async (...actions: [action: string, place: string][]) => {
      const statements = actions.map(([action, place]) => ({ action, resource: `projects/${project}/${place}` }));
      const { key } = await apiKeys.create({ name: crypto.randomUUID(), policy: { statements } });
      return new Shoal({ apiKey: key, baseUrl: test.service.baseUrl });
    };
    const creating: [string, string][] = [
      ["browsers:create", "*"],
      ["browsers:use", "*"],
      ["browsers:delete", "*"],
    ];
    const user = await clientOf(...creating, ["vaults:use", `vaults/${vault.id}`]);
    const stranger = await clientOf(...creating);
    expect(await problemOf(stranger.browsers.create({ vaults: [{ id: vault.id }] }))).toBe("403 undefined");
    await using browser = await user.browsers.create({ vaults: [{ name: vault.name }] });
    await test.shoal.browsers.act(browser.session_id, { type: "navigate", url: `${site.url}?a=1#top` });
    expect(browser.vaults).toEqual([{ id: vault.id, name: vault.name }]);
    const look = (client: Shoal) => client.browsers.playwright.execute(browser.session_id, { code: "return 1" });
    expect(await look(stranger)).toMatchObject({ result: 1 });
    const body = { type: "fill", browser_id: browser.session_id, page_url: `${site.url}?a=1#top` } as const;
    const fields = bindings(["username", "#u"]);
    expect(await problemOf(stranger.vaults.items.operate(vault.id, "shop", { ...body, fields }))).toBe("403 undefined");
    const vaultOnly = await clientOf(["vaults:use", `vaults/${vault.id}`]);
    expect(await problemOf(vaultOnly.vaults.items.operate(vault.id, "shop", { ...body, fields }))).toBe(
      "403 undefined",
    );
    expect(await user.vaults.items.operate(vault.id, "shop", { ...body, fields })).toMatchObject({
      status: "completed",
    });
    for (const client of [stranger, user]) expect(await problemOf(look(client))).toBe("403 undefined");
    expect(await look(test.shoal)).toMatchObject({ result: 1 });
  });

  it("lets only keys with the right to stored values create items of connections", async () => {
    const { auth, apiKeys, credentials, projects, vaults } = test.shoal;
    const name = `linked-${crypto.randomUUID()}`;
    await credentials.create({ name, domain: site.host, values: { username: "ada", password } });
    const { id: connection_id } = await auth.connections.create({
      ...{ domain: site.host, profile_name: name },
      credential: { name },
    });
    const vault = await vaults.create({ name });
    const [{ id: project } = { id: "" }] = (await projects.list({ query: "default" })).items;
    const statements = ["vaults:write", "vaults:use"].map((action) => ({
      action,
      resource: `projects/${project}/vaults/${vault.id}`,
    }));
    const { key } = await apiKeys.create({ name, policy: { statements } });
    const narrow = new Shoal({ apiKey: key, baseUrl: test.service.baseUrl });
    const spec = { provider: "managed_auth", connection_id } as const;
    expect(await problemOf(narrow.vaults.items.put(vault.id, "shop", { type: "credential", spec }))).toBe(
      "403 undefined",
    );
  });
});

async function problemOf(call: PromiseLike<unknown>): Promise<string> {
  try {
    await call;
    return "none";
  } catch (error) {
    if (!ApiError.isInstance(error)) throw error;
    return `${String(error.status)} ${String(/^(?:body|params)[^:]*(?=:)/.exec(error.message)?.[0])}`;
  }
}
