import type { Browser } from "@shoal/client";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { setTimeout as delay } from "node:timers/promises";
import { chromium } from "playwright-core";
import puppeteer from "puppeteer-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { placements } from "../testing/components.ts";
import { firstPageOf } from "../testing/page.ts";
import { chromiums, killAll } from "../testing/processes.ts";
import { openCdp, type CdpAnswer, type RawCdp } from "../testing/raw-cdp.ts";
import { refusalOf } from "../testing/refusal.ts";
import { useService } from "../testing/service.ts";
import { serverCount } from "../testing/several-servers.ts";
import { serveSite, type Site } from "../testing/site.ts";

/** Appears only in the other session. */
const secret = "Zxq7Secret";

const page = `<!doctype html><title>page</title><textarea id="field"></textarea><a id="file" href="/file">file</a><iframe srcdoc="<a href=/file>"></iframe>
<button id="popup" onclick="window.open('/popup')">open</button><script>
new SharedWorker("/worker.js"); new Worker("/worker.js"); void navigator.serviceWorker.register("/worker.js");
</script>`;

interface OpenPage {
  readonly cdp: RawCdp;
  readonly targetId: string;
  readonly sessionId: string;
}

async function openPage(address: string, url: string): Promise<OpenPage> {
  const cdp = await openCdp(address);
  const { targetInfos } = await cdp.result("Target.getTargets");
  const first = (targetInfos as { readonly targetId: string; readonly type: string }[]).find(
    ({ type }) => type === "page",
  );
  const targetId = first?.targetId ?? "";
  const { sessionId } = await cdp.result("Target.attachToTarget", { targetId, flatten: true });
  const opened = { cdp, targetId, sessionId: String(sessionId) };
  await cdp.result("Page.enable", {}, opened.sessionId);
  await cdp.result("Page.navigate", { url }, opened.sessionId);
  await eventually(
    "the page loads",
    async () => (await cdp.evaluate("document.readyState + location.href", opened.sessionId)) === `complete${url}`,
  );
  return opened;
}

const settled = (cdp: RawCdp, sessionId: string) =>
  cdp.evaluate(
    "navigator.serviceWorker.ready.then(() => new Promise((resolve) => setTimeout(resolve, 200)))",
    sessionId,
  );

// The gateway is the same in all placements.
describe.each(placements.slice(0, 1))("sessions in one browser, placement $title", ({ placement, skip }) => {
  // Both sessions must be in the browser of one server.
  describe.skipIf(skip || process.platform === "win32" || serverCount > 1)("of two clients", () => {
    let site: Site;
    let attacker: Browser;
    let victim: Browser;
    let hostile: OpenPage;
    let other: OpenPage;
    let otherContext: string;
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);

    beforeAll(async () => {
      site = await serveSite((request, response) => {
        const path = request.url ?? "";
        if (path === "/file")
          response.setHeader("content-disposition", 'attachment; filename="report.txt"').end("text");
        else if (path === "/worker.js")
          response.setHeader("content-type", "text/javascript").end("onfetch = undefined");
        else response.setHeader("content-type", "text/html").end(page);
      });
      const { shoal } = test;
      attacker = await shoal.browsers.create({ isolation: "context", timeout_seconds: 600 });
      victim = await shoal.browsers.create({ isolation: "context", timeout_seconds: 600 });
      other = await openPage(victim.cdp_ws_url, `${site.url}?${secret}=1`);
      hostile = await openPage(attacker.cdp_ws_url, site.url);
      const { targetInfo } = await other.cdp.result("Target.getTargetInfo", { targetId: other.targetId });
      otherContext = String((targetInfo as { readonly browserContextId?: unknown }).browserContextId);
      await other.cdp.evaluate(
        `document.title = localStorage.own = "${secret}"; document.cookie = "own=${secret}"; field.value = "${secret}"; indexedDB.open("${secret}");
         navigator.serviceWorker.register("/worker.js?${secret}", { scope: "/${secret}/" }); caches.open("${secret}")`,
        other.sessionId,
      );
      await Promise.all([settled(other.cdp, other.sessionId), settled(hostile.cdp, hostile.sessionId)]);
    });
    afterAll(async () => {
      hostile.cdp[Symbol.dispose]();
      other.cdp[Symbol.dispose]();
      await test.shoal.browsers.delete(attacker.session_id);
      await test.shoal.browsers.delete(victim.session_id);
      await site.close();
    });

    const isClean = (text: string): boolean =>
      ![secret, other.targetId, other.sessionId, otherContext].some((part) => text.includes(part));
    const expectIntact = async (): Promise<void> => {
      expect(await other.cdp.evaluate("[document.title, location.search, field.value].join()", other.sessionId)).toBe(
        `${secret},?${secret}=1,${secret}`,
      );
      const { cookies } = await other.cdp.result("Storage.getCookies");
      expect(cookies).toMatchObject([{ name: "own", value: secret }]);
    };

    it("share one Chromium", async () => {
      expect(attacker).toMatchObject({ isolation: "context", placement });
      const running = chromiums(test.processes());
      expect(running).toHaveLength(1);
    });

    it("show a client nothing of the other one's targets, also with workers of the same origin", async () => {
      using cdp = await openCdp(attacker.cdp_ws_url);
      await eventuallyPasses(async () => {
        // A service worker without work ends after a while.
        await hostile.cdp.evaluate(
          "navigator.serviceWorker.ready.then(({ active }) => active.postMessage(1))",
          hostile.sessionId,
        );
        const { targetInfos } = await cdp.result("Target.getTargets", { filter: [{}] });
        const types = (targetInfos as { readonly type: string }[]).map(({ type }) => type);
        expect(types).toEqual(expect.arrayContaining(["page", "service_worker", "shared_worker", "worker"]));
        expect(types.filter((type) => type === "page" || type === "service_worker")).toHaveLength(2);
      });
      expect(await cdp.result("Target.getBrowserContexts")).toMatchObject({ browserContextIds: [] });
      expect(cdp.received.every(isClean)).toBe(true);
    });

    it("neither report nor stop the other one's new pages and popups by automatic attachment", async () => {
      using cdp = await openCdp(attacker.cdp_ws_url);
      await cdp.result("Target.setDiscoverTargets", { discover: true, filter: [{}] });
      await cdp.result("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
      const before = cdp.events.length;
      const { targetId } = await other.cdp.result("Target.createTarget", { url: `${site.url}?${secret}=2` });
      const { sessionId } = await other.cdp.result("Target.attachToTarget", { targetId, flatten: true });
      const run = (code: string) => other.cdp.evaluate(code, String(sessionId));
      await expect.poll(() => run("document.readyState + location.search")).toBe(`complete?${secret}=2`);
      await other.cdp.evaluate("popup.click()", other.sessionId);
      const urls = async () =>
        ((await other.cdp.result("Target.getTargets")).targetInfos as { readonly url: string }[]).map(({ url }) => url);
      await expect.poll(urls).toContain(`${site.url}popup`);
      await other.cdp.result("Target.closeTarget", { targetId });
      await expect.poll(urls).not.toContain(`${site.url}?${secret}=2`);
      // An own page is reported, and waits.
      const own = await cdp.result("Target.createTarget", { url: `${site.url}own` });
      const attached = () => cdp.events.slice(before).filter(({ method }) => method === "Target.attachedToTarget");
      await expect
        .poll(() => attached().map(({ params }) => params))
        .toContainEqual(
          expect.objectContaining({
            targetInfo: expect.objectContaining({ targetId: own.targetId }) as unknown,
            waitingForDebugger: true,
          }),
        );
      expect(cdp.received.every(isClean)).toBe(true);
    });

    it("answer for the other one's ids as for ids that do not exist", async () => {
      const { cdp } = hostile;
      const answers = (params: (id: string) => object, method: string, sessionId?: string) =>
        Promise.all(
          [other.targetId, "0".repeat(32)].map(async (id) => (await cdp.send(method, params(id), sessionId))?.error),
        );
      for (const method of ["attachToTarget", "closeTarget", "activateTarget", "getTargetInfo", "autoAttachRelated"]) {
        for (const sessionId of [undefined, hostile.sessionId]) {
          const [real, invented] = await answers(
            (targetId) => ({ targetId, flatten: true, waitForDebuggerOnStart: false }),
            `Target.${method}`,
            sessionId,
          );
          expect(real, method).toBeDefined();
          expect(real, method).toEqual(invented);
        }
      }
      const foreign = await cdp.send("Runtime.evaluate", { expression: "document.title" }, other.sessionId);
      expect(foreign?.error).toMatchObject({ code: -32001 });
      expect((await cdp.send("Target.detachFromTarget", { sessionId: other.sessionId }))?.error).toBeDefined();
      expect((await cdp.send("Storage.getCookies", { browserContextId: otherContext }))?.error).toBeDefined();
      expect(
        (await cdp.send("Target.createTarget", { url: "about:blank", browserContextId: otherContext }))?.error,
      ).toBeDefined();
      const address = (path: string) => attacker.cdp_ws_url.replace("/cdp?", `${path}?`);
      await expect(openCdp(address(`/devtools/page/${other.targetId}`)).then((opened) => opened.closed)).resolves.toBe(
        1011,
      );
      for (const path of [`/json/activate/${other.targetId}`, `/json/close/${other.targetId}`])
        expect((await fetch(address(path).replace("ws", "http"))).status).toBe(404);
      const list = await (await fetch(address("/json/list").replace("ws", "http"))).text();
      expect(isClean(list)).toBe(true);
      await expectIntact();
    });

    it("let no method of the protocol reach the other one", async () => {
      const { domains } = (await (
        await fetch(attacker.cdp_ws_url.replace("ws", "http").replace("/cdp?", "/json/protocol?"))
      ).json()) as { domains: { domain: string; commands?: { name: string; parameters?: { name: string }[] }[] }[] };
      // These stop the attacker's own page or connection.
      const ends = /^(?:Browser\.close|Page\.(?:close|crash|waitForDebugger)|Debugger\.pause|Inspector\..*)$/;
      const values: Readonly<Record<string, unknown>> = {
        targetId: other.targetId,
        browserContextId: otherContext,
        sessionId: other.sessionId,
        frameId: other.targetId,
        openerId: other.targetId,
        windowId: 3,
        origin: new URL(site.url).origin,
        securityOrigin: new URL(site.url).origin,
        storageKey: site.url,
        url: site.url,
        expression: "1",
        handle: "1",
        flatten: true,
        autoAttach: true,
        waitForDebuggerOnStart: false,
        discover: true,
        message: JSON.stringify({ id: 1, method: "Runtime.enable" }),
      };
      const { cdp, sessionId: ofPage } = await openPage(attacker.cdp_ws_url, site.url);
      const commands = domains.flatMap(({ commands: named = [], domain }) =>
        named.map(({ name, parameters = [] }) => ({
          method: `${domain}.${name}`,
          params: Object.fromEntries(parameters.map((one) => [one.name, values[one.name]])),
        })),
      );
      expect(commands.length).toBeGreaterThan(500);
      const answers: (CdpAnswer | undefined)[] = [];
      const sent = commands
        .filter(({ method }) => !ends.test(method))
        .flatMap(({ method, params }) =>
          [undefined, ofPage].flatMap((sessionId) =>
            [params, {}].map((given) => cdp.send(method, given, sessionId).then((answer) => answers.push(answer))),
          ),
        );
      await eventuallyPasses(() => {
        expect(answers.filter((answer) => answer?.error?.code === -32601).length).toBeGreaterThan(1000);
        expect(answers.filter((answer) => answer?.result !== undefined).length).toBeGreaterThan(100);
      });
      // Some have no answer, as those of a page that waits.
      const lateMs = 5_000;
      await Promise.race([Promise.all(sent), delay(lateMs)]);
      // Events that the attacker enabled.
      const { targetId } = await other.cdp.result("Target.createTarget", { url: `${site.url}?${secret}=3` });
      await other.cdp.evaluate(
        `console.log("${secret}"), localStorage.setItem("${secret}", 1), fetch("/?${secret}").then((answer) => answer.text())`,
        other.sessionId,
      );
      await other.cdp.result("Target.closeTarget", { targetId });
      await cdp.result("Browser.getVersion");
      expect(cdp.received.filter((text) => !isClean(text))).toEqual([]);
      await expectIntact();
      cdp[Symbol.dispose]();
    });

    it("refuse methods of the whole browser with the next step", async () => {
      for (const method of [
        "Tracing.start",
        "SystemInfo.getProcessInfo",
        "Browser.crash",
        "IO.read",
        "Target.createBrowserContext",
        "Fetch.enable",
        "Unknown.method",
      ]) {
        const answer = await hostile.cdp.send(method, { targetId: hostile.targetId });
        expect(answer?.error, method).toMatchObject({
          code: -32601,
          message: expect.stringContaining("Create the session without isolation") as string,
        });
      }
      // Refused in all sessions.
      const exposed = await hostile.cdp.send("Target.exposeDevToolsProtocol", { targetId: hostile.targetId });
      expect(exposed?.error?.message).toContain("Connect to cdp_ws_url instead");
    });

    it("open no files of the machine, and no other session's", async () => {
      const { cdp, sessionId } = hostile;
      for (const url of [
        "file:///etc/passwd",
        "f\tile:///etc/passwd",
        "view-source:file:///etc/passwd",
        "chrome://version",
      ]) {
        for (const method of ["Page.navigate", "Target.createTarget"])
          expect(
            (await cdp.send(method, { url }, method === "Page.navigate" ? sessionId : undefined))?.error,
            url,
          ).toBeDefined();
        await cdp.evaluate(`window.open(${JSON.stringify(url)}), 1`, sessionId);
      }
      const { targetInfos } = await cdp.result("Target.getTargets");
      expect(JSON.stringify(targetInfos)).not.toMatch(/file:|chrome:/);
      const { fs } = test.shoal.browsers;
      await fs.writeFile(victim.session_id, Buffer.from(secret), { path: "/home/shoal/own.txt" });
      for (const path of [
        "/home/shoal/own.txt",
        `/../../../${secret}`,
        "/var/lib/shoal",
        "/../root/home/shoal/own.txt",
      ])
        expect(await refusalOf(fs.readFile(attacker.session_id, { path }))).toMatchObject({
          status: expect.any(Number) as number,
        });
      expect(JSON.stringify(await fs.listFiles(attacker.session_id, { path: "/" }))).not.toContain("opt");
    });

    it("keep downloads apart", async () => {
      using cdp = await openCdp(attacker.cdp_ws_url);
      await cdp.result("Browser.setDownloadBehavior", {
        behavior: "allowAndName",
        downloadPath: "/tmp",
        eventsEnabled: true,
      });
      await other.cdp.evaluate("file.click()", other.sessionId);
      await other.cdp.evaluate("frames[0].document.querySelector('a').click()", other.sessionId);
      const { downloads } = test.shoal.browsers;
      await expect
        .poll(async () => (await downloads.list(victim.session_id)).items.map(({ state }) => state))
        .toEqual(["completed", "completed"]);
      expect((await downloads.list(attacker.session_id)).items).toEqual([]);
      expect([...hostile.cdp.events, ...cdp.events].filter(({ method }) => method?.includes("download"))).toEqual([]);
      // Its own downloads are reported.
      await hostile.cdp.evaluate("frames[0].document.querySelector('a').click()", hostile.sessionId);
      await expect
        .poll(async () => (await downloads.list(attacker.session_id)).items.map(({ state }) => state))
        .toEqual(["completed"]);
      await expect
        .poll(() => cdp.events.map(({ params }) => params))
        .toContainEqual(expect.objectContaining({ state: "completed" }));
    });

    it("share no clipboard", async () => {
      const key = (at: OpenPage, letter: string, code: number) =>
        at.cdp.send(
          "Input.dispatchKeyEvent",
          { type: "rawKeyDown", modifiers: 2, key: letter, windowsVirtualKeyCode: code },
          at.sessionId,
        );
      await other.cdp.evaluate("field.focus(), field.select()", other.sessionId);
      expect((await key(other, "c", 67))?.error).toBeUndefined();
      await hostile.cdp.evaluate("field.focus()", hostile.sessionId);
      expect((await key(hostile, "v", 86))?.error).toBeDefined();
      for (const permissions of [["clipboardReadWrite"], ["geolocation", "clipboardReadWrite"]])
        expect((await hostile.cdp.send("Browser.grantPermissions", { permissions }))?.error).toBeDefined();
      const read = `Promise.race([navigator.clipboard.readText().catch(String), new Promise((resolve) => setTimeout(resolve, 500, "asks"))])`;
      expect(
        await hostile.cdp.evaluate(
          `${read}.then((text) => text + field.value + document.execCommand("paste"))`,
          hostile.sessionId,
        ),
      ).not.toContain(secret);
    });

    it("keep permissions, quotas, the pointer, dialogs and the focus apart", async () => {
      const { origin } = new URL(site.url);
      const state = `Promise.all([navigator.permissions.query({ name: "geolocation" }), navigator.storage?.estimate()])
        .then(([{ state }, { quota = 0 } = {}]) => [state, quota, document.hasFocus(), document.visibilityState].join())`;
      const before = await other.cdp.evaluate(state, other.sessionId);
      await hostile.cdp.result("Browser.grantPermissions", { permissions: ["geolocation"] });
      await hostile.cdp.result("Storage.overrideQuotaForOrigin", { origin, quotaSize: 1_000 }, hostile.sessionId);
      await hostile.cdp.result("Page.bringToFront", {}, hostile.sessionId);
      const gesture = { expression: "void document.body.requestPointerLock()", userGesture: true };
      await hostile.cdp.result("Runtime.evaluate", gesture, hostile.sessionId);
      void hostile.cdp.send("Runtime.evaluate", { expression: "alert()" }, hostile.sessionId);
      expect(await other.cdp.evaluate(state, other.sessionId)).toBe(before);
      await other.cdp.evaluate(
        "window.moved = []; onmousemove = ({ clientX }) => moved.push(clientX)",
        other.sessionId,
      );
      for (const x of [300, 310])
        await other.cdp.result("Input.dispatchMouseEvent", { type: "mouseMoved", x, y: 200 }, other.sessionId);
      expect(await other.cdp.evaluate("moved.join()", other.sessionId)).toBe("300,310");
      await hostile.cdp.result("Page.handleJavaScriptDialog", { accept: true }, hostile.sessionId);
      await hostile.cdp.result("Browser.resetPermissions");
    });

    it("have separate rules for the network", async () => {
      const { shoal } = test;
      await shoal.browsers.update(attacker.session_id, { network: { deny: ["127.0.0.1"] } });
      expect(await hostile.cdp.result("Page.navigate", { url: site.url }, hostile.sessionId)).toHaveProperty(
        "errorText",
      );
      expect(await other.cdp.evaluate("fetch('/x').then((answer) => answer.status)", other.sessionId)).toBe(200);
      await shoal.browsers.update(attacker.session_id, { network: { deny: [] } });
      expect(await hostile.cdp.result("Page.navigate", { url: site.url }, hostile.sessionId)).not.toHaveProperty(
        "errorText",
      );
    });

    it("survive a client that reads nothing", async () => {
      using cdp = await openCdp(attacker.cdp_ws_url);
      await cdp.result("Target.setAutoAttach", { autoAttach: true, waitForDebuggerOnStart: true, flatten: true });
      cdp.pause();
      const { targetId } = await other.cdp.result("Target.createTarget", { url: site.url });
      const { sessionId } = await other.cdp.result("Target.attachToTarget", { targetId, flatten: true });
      await expect.poll(() => other.cdp.evaluate("document.readyState", String(sessionId))).toBe("complete");
      await other.cdp.result("Target.closeTarget", { targetId });
    });
  });
});

describe.each(placements)("isolation: context, placement $title", ({ placement, skip }) => {
  describe.skipIf(skip || process.platform === "win32")("as an API", () => {
    let site: Site;
    const test = useService(() => ["--placement", placement, "--allow-private-hosts", "127.0.0.1"]);
    beforeAll(async () => {
      site = await serveSite();
    });
    afterAll(() => site.close());

    it("work with Playwright and Puppeteer, and with the operations on pages", async () => {
      const { browsers } = test.shoal;
      await using session = await browsers.create({
        isolation: "context",
        start_url: `${site.url}start`,
        viewport: { width: 800, height: 600 },
        telemetry: { browser: { console: { enabled: true } } },
      });
      const { session_id: id } = session;
      const browser = await chromium.connectOverCDP(session.cdp_ws_url);
      expect(browser.contexts()).toHaveLength(1);
      const first = await firstPageOf(browser);
      await first.waitForURL(`${site.url}start`);
      expect(await first.evaluate(() => [innerWidth, innerHeight])).toEqual([800, 600]);
      const [popup] = await Promise.all([
        first.waitForEvent("popup"),
        first.evaluate(() => void window.open("/popup")),
      ]);
      await popup.waitForURL(`${site.url}popup`);
      await popup.close();
      await first.setContent("<input type=file>");
      await first.setInputFiles("input", { name: "a.txt", mimeType: "text/plain", buffer: Buffer.from("a") });
      expect(await first.evaluate(() => document.querySelector("input")?.files?.[0]?.name)).toBe("a.txt");
      await browser.close();
      const connected = await puppeteer.connect({ browserWSEndpoint: session.cdp_ws_url, defaultViewport: null });
      const opened = await connected.newPage();
      await opened.goto(`${site.url}puppeteer`);
      await expect.poll(() => connected.defaultBrowserContext().pages()).toHaveLength(2);
      await connected.disconnect();
      await browsers.act(id, { type: "navigate", url: `${site.url}acted` });
      expect((await browsers.observe(id, {})).outline).toContain("hello");
      expect(JSON.stringify(await browsers.read(id, {}))).toContain("hello");
      await (await browsers.screenshot(id, {})).stream.cancel();
      await browsers.update(id, { viewport: { width: 640, height: 480 } });
      await browsers.fs.writeFile(id, Buffer.from("text"), { path: "/tmp/a.txt" });
    });

    it("answer 400 with the reason and the next step for what needs a separate browser", async () => {
      const { browsers } = test.shoal;
      for (const [field, value] of Object.entries({
        headless: false,
        stealth: true,
        chrome_policy: { URLBlocklist: ["*"] },
        extensions: [{ name: "x" }],
        profile: { name: "x" },
        sleep_after_seconds: 5,
        memory: "8GiB",
      }))
        expect(await refusalOf(browsers.create({ isolation: "context", [field]: value }))).toMatchObject({
          status: 400,
          code: "bad_request",
          message: expect.stringMatching(new RegExp(`^body.${field}: .*omit isolation`)) as string,
        });
      await using session = await browsers.create({ isolation: "context" });
      const { session_id: id } = session;
      for (const call of [
        () => browsers.process.spawn(id, { command: "id" }),
        () => browsers.playwright.execute(id, { code: "return 1" }),
        () => browsers.computer.captureScreenshot(id, {}),
        () => browsers.curl(id, { url: site.url }),
      ])
        expect(await refusalOf(call())).toMatchObject({
          status: 400,
          message: expect.stringMatching(/^isolation: .*Create the session without isolation/) as string,
        });
      expect(await refusalOf(browsers.update(id, { chrome_policy: { URLBlocklist: ["*"] } }))).toMatchObject({
        status: 400,
      });
    });

    it("end with the reason when their browser crashes, and the next session gets a new one", async () => {
      const { browsers } = test.shoal;
      const sessions = await Promise.all([1, 2].map(() => browsers.create({ isolation: "context" })));
      killAll(chromiums(test.processes()));
      for (const { session_id: id } of sessions)
        await expect
          .poll(async () => (await browsers.get(id, { include_deleted: true })).ended_reason)
          .toBe("browser_crashed");
      await using next = await browsers.create({ isolation: "context" });
      using cdp = await openCdp(next.cdp_ws_url);
      expect(await cdp.result("Target.getTargets")).toMatchObject({ targetInfos: [{ url: "about:blank" }] });
    });
  });
});
