import { ApiError } from "@shoal/client";
import { examineHost } from "@shoal/placement";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { chromium, type Browser, type CDPSession, type Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { firstPageOf } from "../testing/page.ts";
import { launchPerson } from "../testing/person.ts";
import { useService } from "../testing/service.ts";
import { useSession } from "../testing/session.ts";

const { chromium: installed } = await examineHost();
const content = `<!doctype html><title>task</title><body style="margin:0"><button style="width:800px;height:300px" onclick="textContent = 'Pressed ' + ++clicks">Press</button><script>globalThis.clicks = 0;</script>`;
const codeOf = (error: unknown): string => (ApiError.isInstance(error) ? error.code : String(error));

describe.skipIf(installed === undefined)("a handoff", () => {
  const test = useService();
  const session = useSession(test, {
    viewport: { width: 800, height: 600 },
    telemetry: { browser: { connection: { enabled: true } } },
  });
  let client: Browser;
  let page: Page;
  let cdp: CDPSession;
  let person: Browser;
  beforeAll(async () => {
    person = await launchPerson();
    client = await chromium.connectOverCDP((await test.shoal.browsers.get(session.id)).cdp_ws_url);
    page = await firstPageOf(client);
    await page.setContent(content);
    cdp = await client.newBrowserCDPSession();
  });
  afterEach(async () => {
    await test.shoal.browsers.handoff.cancel(session.id);
  });
  afterAll(async () => {
    await client.close();
    await person.close();
  });
  const clicks = () => page.evaluate(() => (globalThis as unknown as { clicks: number }).clicks);
  const handoffs = () => test.shoal.browsers.handoff;

  it("delays input of Playwright until the person returns control with a note", async () => {
    const attached = await test.shoal.browsers.attach(session.id);
    const before = await clicks();
    const handoff = await attached.handoff.request({ message: "Press the button", label: "Ana" });
    expect(handoff).toMatchObject({ status: "requested", label: "Ana", on_automation: "wait", taken_at: null });
    let isClicked = false;
    const clicked = page.click("button", { timeout: 0 }).then(() => (isClicked = true));
    // Reading continues.
    expect((await cdp.send("Browser.getVersion")).product).toContain("Chrome");
    expect((await attached.observe()).outline).toContain("Press");

    const phone = await person.newPage({ viewport: { width: 390, height: 844 }, colorScheme: "dark" });
    await phone.goto(handoff.url ?? "");
    await phone.waitForSelector("body.showing.read-only");
    await expect.poll(() => phone.textContent("#handoff-message")).toBe("Press the button");
    await expect.poll(() => phone.textContent("#handoff-deadline")).toMatch(/1[0-5] min left/);
    await phone.evaluate(readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8"));
    const violations = () =>
      phone.evaluate(async () => {
        const { axe } = globalThis as unknown as {
          axe: { run(): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
        };
        return (await axe.run()).violations.map(({ id, nodes }) => [id, nodes[0]?.html]);
      });
    await expect.poll(violations).toEqual([]);
    // By keyboard only.
    await phone.focus("#handoff-take");
    await phone.keyboard.press("Enter");
    await phone.waitForSelector("body.showing:not(.read-only)");
    await expect.poll(() => handoffs().get(session.id)).toMatchObject({ status: "taken", taken_by: "Ana" });
    const box = await phone.locator("#screen").boundingBox();
    await phone.mouse.click((box?.x ?? 0) + (box?.width ?? 0) / 2, (box?.y ?? 0) + (box?.height ?? 0) / 4);
    await expect.poll(async () => (await attached.observe()).outline).toContain(`Pressed ${String(before + 1)}`);
    expect(isClicked).toBe(false);
    await phone.focus("#handoff-note");
    await phone.keyboard.type("the code is 4711");
    await phone.keyboard.press("Tab");
    await phone.keyboard.press("Enter");
    expect(await handoff.done()).toMatchObject({
      id: handoff.id,
      status: "released",
      released_by: "Ana",
      note: "the code is 4711",
    });
    await clicked;
    // The person's click and that of Playwright.
    expect(await clicks()).toBe(before + 2);
    await expect.poll(() => phone.textContent("#cover-title")).toBe("Control was returned");
    expect(await phone.textContent("#cover-text")).toBe("Control was returned. Thank you. You can close this page.");
    await phone.reload();
    expect(await phone.textContent("h1")).toBe("This link is not needed any more");
    expect(await phone.textContent("main p")).toBe("Control was returned. Thank you. You can close this page.");
    await phone.close();
  });

  it("refuses input over CDP, BiDi and the API with its own code", async () => {
    const { url } = await handoffs().request(session.id, { message: "Wait", on_automation: "refuse" });
    expect(url).toBeDefined();
    const pageCdp = await page.context().newCDPSession(page).catch(String);
    expect(typeof pageCdp).not.toBe("string");
    if (typeof pageCdp === "string") return;
    for (const [method, params] of [
      ["Input.dispatchMouseEvent", { type: "mousePressed", x: 1, y: 1, button: "left", clickCount: 1 }],
      ["Runtime.evaluate", { expression: "clicks++" }],
      ["Page.navigate", { url: "about:blank" }],
      ["Target.sendMessageToTarget", { message: "{}" }],
    ] as const)
      expect([method, await pageCdp.send(method as never, params as never).catch(String)]).toEqual([
        method,
        expect.stringContaining("handoff_active"),
      ]);
    expect((await pageCdp.send("Page.captureScreenshot")).data.length).toBeGreaterThan(100);

    const { browsers } = test.shoal;
    const { id } = session;
    for (const call of [
      () => browsers.computer.clickMouse(id, { x: 5, y: 5 }),
      () => browsers.act(id, { type: "click", role: "button", name: "Press" }),
      () => browsers.playwright.execute(id, { code: "return 1" }),
      () => browsers.playwright.executors.delete(id, "one", { close_tab: true }),
      () => browsers.process.run(id, { command: "true" }),
      () => browsers.curl(id, { url: "http://example.com/" }),
      () => handoffs().request(id, { message: "second" }),
    ])
      expect(
        codeOf(
          await call().then(
            () => "done",
            (error: unknown) => error,
          ),
        ),
      ).toBe("handoff_active");
    expect((await new Response((await browsers.screenshot(id)).stream).blob()).size).toBeGreaterThan(100);

    const { webdriver_ws_url } = await browsers.get(id);
    const bidi = new WebSocket(webdriver_ws_url);
    const answers: { id: number; type: string; message?: string; result?: { contexts?: { context: string }[] } }[] = [];
    bidi.on("message", (data: Buffer) => answers.push(JSON.parse(data.toString()) as (typeof answers)[number]));
    await new Promise((resolve) => bidi.once("open", resolve));
    const ask = async (number: number, method: string, params: object) => {
      bidi.send(JSON.stringify({ id: number, method, params }));
      await expect.poll(() => answers.some((answer) => answer.id === number)).toBe(true);
      return answers.find((answer) => answer.id === number);
    };
    await ask(1, "session.new", { capabilities: {} });
    const tree = await ask(2, "browsingContext.getTree", {});
    const context = tree?.result?.contexts?.[0]?.context;
    expect(context).toBeDefined();
    expect(await ask(3, "browsingContext.navigate", { context, url: "about:blank" })).toMatchObject({
      type: "error",
      message: expect.stringContaining("handoff_active") as unknown,
    });
    bidi.close();
    await handoffs().release(id);
    await browsers.computer.clickMouse(id, { x: 5, y: 5 });
  });

  it("stops running Playwright code, and expires at its deadline", async () => {
    const { id } = session;
    const running = test.shoal.browsers.playwright
      .execute(id, { code: "await page.evaluate(() => { document.title = 'runs' }); await new Promise(() => {})" })
      .then(() => "done", codeOf);
    await expect.poll(() => page.title()).toBe("runs");
    const handoff = await handoffs().request(id, { message: "short", timeout_seconds: 10 });
    expect(await running).toBe("handoff_active");
    expect(await handoffs().done(id, { handoff_id: handoff.id })).toMatchObject({ status: "expired" });
    expect(await page.title()).toBe("runs");
    expect((await fetch(handoff.url ?? "")).status).toBe(401);
  });

  it("hides a session from keys of other projects", async () => {
    const { id: project_id } = await test.shoal.projects.create({ name: "other" });
    const { key } = await test.shoal.apiKeys.create({ name: "other", project_id });
    const { Shoal } = await import("@shoal/client");
    const other = new Shoal({ baseUrl: test.service.baseUrl, apiKey: key });
    await handoffs().request(session.id, { message: "mine" });
    for (const call of [
      () => other.browsers.handoff.get(session.id),
      () => other.browsers.handoff.request(session.id, { message: "theirs" }),
      () => other.browsers.handoff.release(session.id),
      () => other.browsers.liveViewLinks.create(session.id),
    ])
      expect(
        codeOf(
          await call().then(
            () => "done",
            (error: unknown) => error,
          ),
        ),
      ).toBe("not_found");
    expect((await handoffs().get(session.id)).status).toBe("requested");
  });

  it("writes the person's label to telemetry and the audit log, and revoked links disconnect their viewers", async () => {
    const { browsers, auditLogs } = test.shoal;
    const { id } = session;
    const link = await browsers.liveViewLinks.create(id, { scope: "view", label: "Ben" });
    expect((await browsers.liveViewLinks.list(id)).items).toMatchObject([{ id: link.id, label: "Ben", scope: "view" }]);
    const socket = new WebSocket(`${link.url.replace(/^http/, "ws")}/socket?viewer=ben`);
    const messages: string[] = [];
    socket.on("message", (data: Buffer, isBinary) => !isBinary && messages.push(data.toString()));
    await expect.poll(() => messages[0]).toBe('{"type":"hello","read_only":true}');
    const closed = new Promise((resolve) => socket.once("close", resolve));
    await browsers.liveViewLinks.delete(id, link.id);
    await closed;
    expect((await fetch(link.url)).status).toBe(401);
    // The token of one session does not open another.
    const other = await browsers.create({ timeout_seconds: 60 });
    const second = await browsers.liveViewLinks.create(id, { scope: "operate" });
    expect((await fetch(second.url.replace(id, other.session_id))).status).toBe(401);
    await browsers.delete(other.session_id);
    await expect
      .poll(async () => {
        const { items } = await browsers.telemetry.events(id, { category: ["connection"], limit: 100 });
        return items.flatMap(({ event }) =>
          event.type === "live_view_connect" && event.data?.label === "Ben" ? ["Ben"] : [],
        );
      })
      .toEqual(["Ben"]);
    const start = new Date(Date.now() - 3_600_000).toISOString();
    const end = new Date(Date.now() + 3_600_000).toISOString();
    await expect
      .poll(async () => {
        const found = await auditLogs.list({ start, end, auth_strategy: "live_view" });
        return found.items.map(({ email, operation }) => `${email} ${operation ?? ""}`);
      })
      .toEqual(
        expect.arrayContaining([
          "Ben browsers.liveView.watch",
          "Ana browsers.liveView.control",
          "Ana browsers.handoff.take",
          "Ana browsers.handoff.release",
        ]),
      );
  });
});
