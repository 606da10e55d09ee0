import { eventually } from "@shoal/testkit";
import { request as httpRequest } from "node:http";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { killAll } from "../../testing/processes.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { act, refusalOf, screenshotOf } from "./testing/calls.ts";
import { readPng } from "./testing/png.ts";
import { connectTestBrowser, type TestBrowser, type TestPage } from "./testing/recording-page.ts";

describeChromium("screen, clipboard and dialogs", (chromium) => {
  let instance: RunningInstance;
  let browser: TestBrowser;
  let page: TestPage;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
    browser = await connectTestBrowser(instance);
    page = await browser.recordingPage();
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });
  beforeEach(async () => {
    await page.evaluate("field.value = '', field.focus(), scrollTo(0, 0)");
    await page.events();
  });

  it("captures the visible part of the page, or a region", async () => {
    const [width, height] = (await page.evaluate("[innerWidth, innerHeight]")) as [number, number];
    await page.evaluate(
      `document.body.insertAdjacentHTML("beforeend", '<div id=red style="position:absolute;left:0;top:0;width:5000px;height:700px;background:#ff0000"></div><div id=lime style="position:absolute;left:500px;top:700px;width:50px;height:50px;background:#00ff00"></div>'), undefined`,
    );
    expect(readPng(await screenshotOf(instance))).toEqual({ width, height, corner: "#ff0000" });
    await page.evaluate("scrollTo(300, 650)");
    expect(readPng(await screenshotOf(instance, { x: 200, y: 50, width: 30, height: 20 }))).toEqual({
      width: 30,
      height: 20,
      corner: "#00ff00",
    });
    expect(readPng(await screenshotOf(instance, { x: 199, y: 49, width: 1, height: 1 }))).toEqual({
      width: 1,
      height: 1,
      corner: "#ff0000",
    });
    expect(await refusalOf(instance, "screenshot", { region: { x: 1, y: 0, width, height } })).toMatchObject({
      status: 400,
      message: `body.region: reaches beyond the page, which is ${String(width)} × ${String(height)} pixels`,
    });
    await page.evaluate("red.remove(), lime.remove()");
    expect((await page.evaluate("[innerWidth, innerHeight, scrollX, scrollY]")) as number[]).toEqual([
      width,
      height,
      300,
      650,
    ]);
  });

  it("uses the mouse's pixels on a page with another density", async () => {
    await page.send("Emulation.setDeviceMetricsOverride", {
      width: 640,
      height: 480,
      deviceScaleFactor: 2,
      mobile: false,
    });
    await eventually(async () => (await page.evaluate("devicePixelRatio")) === 2);
    expect(readPng(await screenshotOf(instance))).toMatchObject({ width: 640, height: 480 });
    expect(readPng(await screenshotOf(instance, { x: 600, y: 400, width: 40, height: 40 }))).toMatchObject({
      width: 40,
      height: 40,
    });
    await act(instance, "click_mouse", { x: 500, y: 400 });
    expect(await page.events("mousedown")).toMatchObject([{ x: 500, y: 400 }]);
    await page.send("Emulation.clearDeviceMetricsOverride");
    await eventually(async () => (await page.evaluate("devicePixelRatio")) === 1);
  });

  it("shares the clipboard with the page, invisibly to the page", async () => {
    await page.evaluate(
      "globalThis.copied = [], ['copy', 'paste'].forEach((type) => document.addEventListener(type, () => copied.push(type))), undefined",
    );
    for (const text of ["hällo 😀\nsecond 'line' </script>\u2028", "", "x".repeat(300_000)]) {
      await act(instance, "clipboard/write", { text });
      expect(await act(instance, "clipboard/read")).toEqual({ text });
    }
    expect([await page.evaluate("field.value"), await page.evaluate("copied")]).toEqual(["", []]);
    await act(instance, "clipboard/write", { text: "pasted" });
    await act(instance, "press_key", { keys: ["Ctrl+v"] });
    expect(await page.evaluate("field.value")).toBe("pasted");
    await act(instance, "type", { text: " and typed" });
    await act(instance, "press_key", { keys: ["Ctrl+a", "Ctrl+c"] });
    expect(await act(instance, "clipboard/read")).toEqual({ text: "pasted and typed" });
    expect(await page.evaluate("copied")).toEqual(["paste", "copy"]);
  });

  it("remembers whether the pointer is hidden", async () => {
    expect(await act(instance, "cursor", { hidden: true })).toEqual({ ok: true });
    expect(await act(instance, "cursor", { hidden: false })).toEqual({ ok: true });
  });

  it("works while a dialog is open, and answers it by keys", async () => {
    await page.evaluate(`onclick = () => { globalThis.answer = confirm("Sure?"); }, undefined`);
    await act(instance, "click_mouse", { x: 600, y: 400 });
    expect(await refusalOf(instance, "click_mouse", { x: 600, y: 400 })).toMatchObject({
      status: 409,
      code: "conflict",
      message: expect.stringContaining("A dialog (confirm) is open") as string,
    });
    expect((await refusalOf(instance, "type", { text: "x" })).status).toBe(409);
    expect((await refusalOf(instance, "clipboard/read")).status).toBe(409);
    expect(readPng(await screenshotOf(instance)).width).toBeGreaterThan(100);
    await act(instance, "press_key", { keys: ["Return"] });
    expect(await page.evaluate("answer")).toBe(true);
    await act(instance, "batch", {
      actions: [
        { type: "click_mouse", click_mouse: { x: 600, y: 400 } },
        { type: "press_key", press_key: { keys: ["Escape"] } },
      ],
    });
    expect(await page.evaluate("answer")).toBe(false);
    await page.evaluate(`onclick = () => { globalThis.answer = prompt("Name?", "Ann"); }, undefined`);
    for (const [typed, answered] of [
      ["Ünal", "Ünal"],
      [undefined, "Ann"],
    ]) {
      await act(instance, "click_mouse", { x: 600, y: 400 });
      if (typed !== undefined) await act(instance, "type", { text: typed });
      await act(instance, "press_key", { keys: ["Return"] });
      expect(await page.evaluate("answer")).toBe(answered);
    }
    await page.evaluate(`onclick = null, onkeydown = ({ key }) => { if (key === "x") alert("x"); }`);
    const stopped = await refusalOf(instance, "type", { text: "abxcd", delay: 1 });
    expect(stopped.message).toContain("3 of 5 characters were typed. A dialog (alert) is open");
    await act(instance, "press_key", { keys: ["Return"] });
    await page.evaluate("onkeydown = null");
  });

  it("works while a script keeps the page busy", async () => {
    // Makes the page's current state its last frame.
    await screenshotOf(instance);
    await page.evaluate(
      "setTimeout(() => { const end = performance.now() + 3000; while (performance.now() < end); }), undefined",
    );
    await act(instance, "click_mouse", { x: 640, y: 410 });
    expect(readPng(await screenshotOf(instance)).width).toBeGreaterThan(100);
    await eventually(async () => (await page.events("click")).some(({ x, y }) => x === 640 && y === 410));
  });

  it("follows the page in front", async () => {
    const popup = await browser.recordingPage();
    await act(instance, "click_mouse", { x: 610, y: 410 });
    expect([await page.events("click"), (await popup.events("click")).length]).toEqual([[], 1]);
    await popup.evaluate("onclick = () => close(), undefined");
    await browser.send("Target.closeTarget", { targetId: popup.targetId });
    await eventually(async () => !(await browser.pageIds()).includes(popup.targetId));
    await act(instance, "click_mouse", { x: 611, y: 410 });
    expect(await page.events("click")).toMatchObject([{ x: 611 }]);
    const before = await browser.pageIds();
    await page.evaluate("void open('about:blank', 'small', 'width=400,height=300')");
    await eventually(async () => (await browser.pageIds()).length > before.length);
    const opened = (await browser.pageIds()).find((id) => !before.includes(id)) ?? "";
    const shown = await browser.attach(opened);
    await shown.evaluate("globalThis.clicks = [], onmousedown = ({ clientX }) => clicks.push(clientX), undefined");
    await act(instance, "click_mouse", { x: 55, y: 20 });
    expect(await shown.evaluate("clicks")).toEqual([55]);
    await shown.evaluate("onmousedown = () => close(), undefined");
    await act(instance, "click_mouse", { x: 56, y: 20 });
    await eventually(async () => !(await browser.pageIds()).includes(opened));
    await act(instance, "click_mouse", { x: 612, y: 410 });
    expect(await page.events("click")).toMatchObject([{ x: 612 }]);
    if (chromium.kind !== "chrome") return;
    // Only a Chromium with tabs reports the visible one.
    const [first = ""] = (await browser.pageIds()).filter((id) => id !== page.targetId);
    await browser.send("Target.activateTarget", { targetId: first });
    const behind = await browser.attach(first);
    await behind.evaluate("globalThis.clicks = [], onmousedown = ({ clientX }) => clicks.push(clientX), undefined");
    await act(instance, "click_mouse", { x: 57, y: 20 });
    expect(await behind.evaluate("clicks")).toEqual([57]);
    await browser.send("Target.activateTarget", { targetId: page.targetId });
  });

  it("works after a navigation", async () => {
    const other = await browser.recordingPage();
    await act(instance, "click_mouse", { x: 20, y: 20 });
    await other.send("Page.navigate", {
      url: "data:text/html,<title>next</title><script>clicks=0;onclick=()=>clicks++</script>",
    });
    await eventually(async () => (await other.evaluate("document.title")) === "next");
    await act(instance, "click_mouse", { x: 20, y: 20 });
    expect(await other.evaluate("clicks")).toBe(1);
    await browser.send("Target.closeTarget", { targetId: other.targetId });
    await eventually(async () => !(await browser.pageIds()).includes(other.targetId));
  });

  it("reports that the page crashed", async () => {
    const other = await browser.recordingPage();
    await act(instance, "click_mouse", { x: 20, y: 20 });
    // This command is never answered.
    other.send("Page.crash").catch(() => undefined);
    await eventually(
      async () =>
        (await instance.call("POST", "/computer/click_mouse", JSON.stringify({ x: 20, y: 20 }))).status !== 200,
    );
    expect(await refusalOf(instance, "click_mouse", { x: 20, y: 20 })).toMatchObject({
      status: 409,
      code: "conflict",
      message: expect.stringContaining("most likely because it crashed") as string,
    });
    expect((await refusalOf(instance, "screenshot")).status).toBe(409);
    await browser.send("Target.closeTarget", { targetId: other.targetId });
    await eventually(async () => !(await browser.pageIds()).includes(other.targetId));
    await act(instance, "click_mouse", { x: 20, y: 20 });
  });

  it("stops when the caller disconnects", async () => {
    const { promise: gone, resolve } = Promise.withResolvers<undefined>();
    const calling = httpRequest({
      socketPath: instance.config.listen_path,
      method: "POST",
      path: "/computer/type",
      headers: { "content-type": "application/json" },
    });
    calling.on("error", () => {
      resolve(undefined);
    });
    calling.end(JSON.stringify({ text: "y".repeat(5_000), delay: 20 }));
    await eventually(async () => String(await page.evaluate("field.value")).length > 3);
    calling.destroy(new Error("the caller goes"));
    await gone;
    // Otherwise this call would wait a hundred seconds for the typing.
    await act(instance, "type", { text: "z" });
    expect(await page.evaluate("field.value")).toMatch(/^y{4,}z$/);
  });
});

describeChromium("computer calls", (chromium) => {
  it("reports that the browser crashed, and works with the next browser", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
    const browser = await connectTestBrowser(instance);
    const page = await browser.recordingPage();
    const typing = refusalOf(instance, "type", { text: "y".repeat(5_000), delay: 20 });
    await eventually(async () => String(await page.evaluate("field.value")).length > 3);
    killAll(instance.browserPids().filter((pid) => pid !== instance.process.pid));
    expect(await typing).toMatchObject({ status: 503, code: "browser_not_running" });
    await instance.event(({ type }) => type === "browser_restarted");
    expect(readPng(await screenshotOf(instance)).width).toBeGreaterThan(100);
    await act(instance, "click_mouse", { x: 20, y: 20 });
    // Also reports that the session ended during a call.
    const again = await (await connectTestBrowser(instance)).recordingPage();
    await again.evaluate("field.focus()");
    const actions = [
      { type: "type_text", type_text: { text: "begun" } },
      ...Array.from({ length: 10 }, () => ({ type: "sleep", sleep: { duration_ms: 30_000 } })),
    ];
    const dragging = refusalOf(instance, "batch", { actions });
    await eventually(async () => (await again.evaluate("field.value")) === "begun");
    await instance.call("POST", "/_instance/stop");
    expect(await dragging).toMatchObject({ status: 503, code: "shutting_down" });
    expect(await instance.exited).toBe(0);
  });
});
