import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { WebSocket } from "ws";
import {
  connectTestBrowser,
  type TestBrowser,
  type TestPage,
} from "../../operations/computer/testing/recording-page.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { followTelemetry } from "../../operations/telemetry/testing/follow.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import type { LiveViewMessage, ViewerMessage } from "./messages.ts";

class TestViewer {
  readonly socket: WebSocket;
  readonly messages: LiveViewMessage[] = [];
  readonly pictures: Buffer[] = [];
  /** How many pictures came before the browser last ended. */
  picturesAtRestart: number | undefined;
  readonly #pictured = Promise.withResolvers<void>();
  readonly firstPicture = this.#pictured.promise;
  closed: { readonly code: number; readonly reason: string } | undefined;
  #draws: boolean;

  constructor(socket: WebSocket, draws: boolean) {
    this.socket = socket;
    this.#draws = draws;
    socket.on("message", (data: Buffer, isBinary) => {
      if (isBinary) {
        this.pictures.push(data);
        this.#pictured.resolve();
        if (this.#draws) this.send({ type: "drawn" });
        return;
      }
      const message = JSON.parse(data.toString()) as LiveViewMessage;
      this.messages.push(message);
      if (message.type === "state" && message.state === "restarting") this.picturesAtRestart = this.pictures.length;
    });
    socket.on("close", (code, reason) => {
      this.closed = { code, reason: reason.toString() };
    });
  }

  send(...messages: ViewerMessage[]): void {
    for (const message of messages) this.socket.send(JSON.stringify(message));
  }

  latest<Type extends LiveViewMessage["type"]>(type: Type): Extract<LiveViewMessage, { type: Type }> | undefined {
    return this.messages.findLast(
      (message): message is Extract<LiveViewMessage, { type: Type }> => message.type === type,
    );
  }

  draw(): void {
    this.#draws = true;
    for (const _ of this.pictures) this.send({ type: "drawn" });
  }
}

async function watchOf(instance: RunningInstance, mode: "control" | "view", draws = true): Promise<TestViewer> {
  const viewer = new TestViewer(
    new WebSocket(`ws+unix://${instance.config.listen_path}:/live-view?mode=${mode}&viewer=tester`),
    draws,
  );
  await once(viewer.socket, "open");
  return viewer;
}

const mouse = (action: "move" | "down" | "up", x: number, y: number): ViewerMessage => ({
  type: "mouse",
  action,
  x,
  y,
  button: action === "move" ? "none" : "left",
  buttons: action === "down" ? 1 : 0,
  clicks: action === "move" ? 0 : 1,
  modifiers: 0,
});
const key = (action: "down" | "up", name: string, code: string, more: object = {}): ViewerMessage => ({
  type: "key",
  action,
  key: name,
  code,
  key_code: 65,
  location: 0,
  modifiers: 0,
  repeat: false,
  ...more,
});

describeChromium("live view", (chromium) => {
  let instance: RunningInstance;
  let browser: TestBrowser;
  let page: TestPage;
  const watch = (mode: "control" | "view", { draws = true } = {}): Promise<TestViewer> =>
    watchOf(instance, mode, draws);
  async function gone(...viewers: TestViewer[]): Promise<void> {
    for (const { socket } of viewers) socket.close();
    await expect.poll(() => viewers.every(({ closed }) => closed !== undefined)).toBe(true);
  }
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600, viewport: { width: 1000, height: 700 }, telemetry: ["connection"] });
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

  it("shows the page in front, its size and the open pages", async () => {
    const viewer = await watch("control");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(0);
    expect(viewer.messages[0]).toEqual({ type: "hello", read_only: false });
    expect(viewer.pictures[0]?.subarray(0, 3).toString("hex")).toBe("ffd8ff");
    await expect.poll(() => viewer.latest("size")).toEqual({ type: "size", width: 1000, height: 700 });
    await expect.poll(() => viewer.latest("tabs")?.shown).toBe(page.targetId);
    const ids = (await browser.pageIds()).sort();
    await expect
      .poll(() =>
        viewer
          .latest("tabs")
          ?.tabs.map(({ id }) => id)
          .sort(),
      )
      .toEqual(ids);
    await expect.poll(() => viewer.latest("state")).toEqual({ type: "state", state: "running" });
    await page.evaluate("document.title = 'Changed by a script'");
    await expect
      .poll(() => viewer.latest("tabs")?.tabs.find(({ id }) => id === page.targetId)?.title)
      .toBe("Changed by a script");
    await gone(viewer);
  });

  it("sends mouse, wheel and keys to exact positions, like a person", async () => {
    const viewer = await watch("control");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(0);
    viewer.send(mouse("move", 701, 402), mouse("down", 701, 402), mouse("up", 701, 402));
    const seen: string[] = [];
    await expect
      .poll(async () => {
        seen.push(
          ...(await page.events("mousemove", "mousedown", "mouseup", "click")).map(
            ({ type, x, y, trusted }) => `${type} ${String(x)},${String(y)} ${String(trusted)}`,
          ),
        );
        return seen;
      })
      .toEqual(["mousemove", "mousedown", "mouseup", "click"].map((type) => `${type} 701,402 true`));
    viewer.send({ type: "wheel", x: 700, y: 400, delta_x: 0, delta_y: 240, modifiers: 0 });
    await expect.poll(() => page.evaluate("scrollY")).toBe(240);
    await page.evaluate("scrollTo(0, 0), field.focus()");
    viewer.send(
      key("down", "A", "KeyA", { text: "A", modifiers: 8 }),
      key("up", "A", "KeyA", { modifiers: 8 }),
      { type: "compose", text: "に" },
      { type: "text", text: "日本" },
    );
    await expect.poll(() => page.evaluate("field.value")).toBe("A日本");
    const [down] = await page.events("keydown");
    expect(down).toMatchObject({ key: "A", code: "KeyA", keyCode: 65, modifiers: "s", trusted: true });
    await gone(viewer);
  });

  it("loses no input of a viewer who acts on the first picture, first or behind another", async () => {
    const click = ["mousemove", "mousedown", "mouseup", "click"];
    const clicks = async (viewer: TestViewer, x: number): Promise<void> => {
      await viewer.firstPicture;
      viewer.send(mouse("move", x, 402), mouse("down", x, 402), mouse("up", x, 402));
      const seen: string[] = [];
      await expect
        .poll(async () => {
          seen.push(...(await page.events(...click)).map((event) => `${event.type} ${String(event.x)}`));
          return seen;
        })
        .toEqual(click.map((type) => `${type} ${String(x)}`));
    };
    const first = await watch("control");
    await clicks(first, 711);
    await gone(first);
    const watcher = await watch("view");
    await expect.poll(() => watcher.pictures.length).toBeGreaterThan(0);
    const second = await watch("control");
    await clicks(second, 722);
    await gone(watcher, second);
  });

  it("shares the clipboard", async () => {
    const viewer = await watch("control");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(0);
    viewer.send({ type: "paste", text: "from äöü outside" });
    await expect.poll(() => page.evaluate("field.value")).toBe("from äöü outside");
    viewer.send({ type: "read_clipboard" });
    await expect.poll(() => viewer.latest("clipboard")?.text).toBe("from äöü outside");
    await gone(viewer);
  });

  it("blocks all actions of a viewer in view mode", async () => {
    const [watcher, other] = [await watch("view"), await watch("control")];
    await expect.poll(() => watcher.pictures.length).toBeGreaterThan(0);
    expect(watcher.messages[0]).toEqual({ type: "hello", read_only: true });
    await expect.poll(() => [watcher, other].map((viewer) => viewer.latest("viewers")?.count)).toEqual([2, 2]);
    const before = (await browser.pageIds()).sort();
    watcher.send(
      mouse("down", 5, 5),
      key("down", "a", "KeyA", { text: "a" }),
      { type: "open_tab" },
      { type: "tab", action: "close", id: page.targetId },
      { type: "navigate", url: "about:blank" },
      { type: "read_clipboard" },
    );
    await expect.poll(() => watcher.messages.filter(({ type }) => type === "notice").length).toBe(6);
    other.send(key("down", "b", "KeyB", { text: "b" }), key("up", "b", "KeyB"));
    await expect.poll(() => page.evaluate("field.value")).toBe("b");
    expect(await page.events("mousedown")).toEqual([]);
    expect((await browser.pageIds()).sort()).toEqual(before);
    expect(watcher.latest("clipboard")).toBeUndefined();
    await gone(watcher, other);
  });

  it("opens, shows and closes pages for all viewers", async () => {
    const [one, two] = [await watch("control"), await watch("control")];
    await expect.poll(() => one.latest("tabs")?.shown).toBe(page.targetId);
    const before = await browser.pageIds();
    one.send({ type: "open_tab" });
    await expect.poll(() => two.latest("tabs")?.tabs.length).toBe(before.length + 1);
    const opened = await eventually("the new page is shown", () => {
      const shown = two.latest("tabs")?.shown ?? "";
      return shown !== "" && !before.includes(shown) && shown;
    });
    expect(await browser.pageIds()).toContain(opened);
    two.send({ type: "tab", action: "show", id: page.targetId });
    await expect.poll(() => one.latest("tabs")?.shown).toBe(page.targetId);
    two.send({ type: "tab", action: "close", id: opened });
    await expect.poll(() => one.latest("tabs")?.tabs.some(({ id }) => id === opened)).toBe(false);
    two.send({ type: "navigate", url: "file:///etc/passwd" }, { type: "navigate", url: "javascript:alert(1)" });
    await expect.poll(() => two.messages.filter(({ type }) => type === "notice").length).toBe(2);
    await gone(one, two);
  });

  it("shows dialogs and sends the answers to the page", async () => {
    const viewer = await watch("control");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(0);
    await page.evaluate("setTimeout(() => { globalThis.answer = prompt('Name?', 'Ann') }); 0");
    await expect
      .poll(() => viewer.latest("dialog")?.dialog)
      .toEqual({ kind: "prompt", message: "Name?", default_text: "Ann" });
    viewer.send({ type: "dialog", accept: true, text: "me" });
    await expect.poll(() => viewer.latest("dialog")?.dialog).toBeNull();
    await expect.poll(() => page.evaluate("globalThis.answer")).toBe("me");
    await gone(viewer);
  });

  it("sends a slow viewer only the latest picture, without delaying other viewers", async () => {
    const [slow, fast] = [await watch("view", { draws: false }), await watch("view")];
    await page.evaluate(
      "let step = 0; globalThis.timer = setInterval(() => { document.body.style.background = `hsl(${step++ * 7 % 360} 80% 50%)` }, 30); 0",
    );
    await expect.poll(() => fast.pictures.length).toBeGreaterThan(20);
    expect(slow.pictures.length).toBeLessThanOrEqual(2);
    await page.evaluate("clearInterval(timer); document.body.style.background = 'red'");
    slow.draw();
    await expect.poll(() => slow.pictures.at(-1)?.equals(fast.pictures.at(-1) ?? Buffer.alloc(0))).toBe(true);
    await gone(slow, fast);
  });

  it("disconnects a viewer that sends an invalid message", async () => {
    for (const text of [
      "",
      "{",
      '{"type":"mouse"}',
      '{"type":"boom"}',
      "null",
      JSON.stringify({ type: "text", text: "x".repeat(1024 * 1024) }),
    ]) {
      const viewer = await watch("control");
      viewer.socket.send(text);
      await expect.poll(() => viewer.closed?.code).toBe(text.length > 1000 ? 1009 : 1008);
    }
  });

  it("reports to telemetry which viewers connect and disconnect, with their stable names", async () => {
    const viewer = await watch("view");
    await gone(viewer);
    const telemetry = followTelemetry(instance);
    await telemetry.wait("live_view_disconnect", { session_id: "tester", duration_ms: /^\d+$/ });
    await telemetry.wait("live_view_connect", { session_id: "tester" });
  });
});

describeChromium("the live view of a crashing browser", (chromium) => {
  it("continues with the next browser, and reports the end of the session", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600 });
    await instance.ready();
    const viewer = await watchOf(instance, "control");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(0);
    const client = cdpClient(await instance.connect());
    void client.send("Browser.crash");
    await expect.poll(() => viewer.picturesAtRestart).toBeDefined();
    await expect.poll(() => viewer.latest("state")?.state).toBe("running");
    await expect.poll(() => viewer.pictures.length).toBeGreaterThan(viewer.picturesAtRestart ?? Infinity);
    viewer.send({ type: "open_tab" });
    await expect.poll(() => viewer.latest("tabs")?.tabs.length).toBe(2);
    await instance.call("POST", "/_instance/stop");
    await expect.poll(() => viewer.closed).toEqual({ code: 1001, reason: "the session ended" });
  });
});
