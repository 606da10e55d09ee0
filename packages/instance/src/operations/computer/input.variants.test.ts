import { eventually } from "@shoal/testkit";
import fc from "fast-check";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { describeChromium } from "../../testing/chromium.ts";
import { runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { act, refusalOf } from "./testing/calls.ts";
import { connectTestBrowser, type Recorded, type TestBrowser, type TestPage } from "./testing/recording-page.ts";

const mouseTypes = ["mousemove", "mousedown", "mouseup", "click", "dblclick", "auxclick", "contextmenu"];
const inShort = (events: readonly Recorded[]) =>
  events.map(({ type, x, y, button, detail, modifiers }) =>
    `${type} ${String(x)},${String(y)} b${String(button)} n${String(detail)} ${modifiers}`.trim(),
  );
const keysInShort = (events: readonly Recorded[]) =>
  events.map(({ type, key, code, keyCode, modifiers }) =>
    `${type} ${key} ${code} ${String(keyCode)} ${modifiers}`.trim(),
  );

describeChromium("mouse and keyboard", (chromium) => {
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

  it("clicks at the exact position with every button", async () => {
    await act(instance, "click_mouse", { x: 700, y: 401 });
    expect(inShort(await page.events(...mouseTypes))).toEqual([
      "mousemove 700,401 b0 n0",
      "mousedown 700,401 b0 n1",
      "mouseup 700,401 b0 n1",
      "click 700,401 b0 n1",
    ]);
    await act(instance, "click_mouse", { x: 701, y: 401, button: "right" });
    expect(inShort(await page.events("mousedown", "mouseup", "contextmenu", "auxclick"))).toEqual([
      "mousedown 701,401 b2 n1",
      "contextmenu 701,401 b2 n0",
      "mouseup 701,401 b2 n1",
      "auxclick 701,401 b2 n1",
    ]);
    for (const [place, button] of ["left", "middle", "right", "back", "forward"].entries()) {
      await act(instance, "click_mouse", { x: 710, y: 400, button });
      const events = await page.events("mousedown", "mouseup");
      expect(events.map(({ type, button: number, trusted }) => [type, number, trusted])).toEqual([
        ["mousedown", place, true],
        ["mouseup", place, true],
      ]);
    }
    expect(await act(instance, "get_mouse_position")).toEqual({ x: 710, y: 400 });
  });

  it("moves the pointer without clicking", async () => {
    await act(instance, "click_mouse", { x: 640, y: 410, num_clicks: 0 });
    expect(await act(instance, "get_mouse_position")).toEqual({ x: 640, y: 410 });
    expect(await page.events("mousedown", "mouseup", "click")).toEqual([]);
  });

  it("clicks several times, holds keys, presses and releases buttons", async () => {
    await act(instance, "click_mouse", { x: 700, y: 400, num_clicks: 3, hold_keys: ["Shift", "Ctrl"] });
    const events = await page.events("mousedown", "click", "dblclick", "keydown", "keyup");
    expect(inShort(events.filter(({ type }) => type === "click" || type === "dblclick"))).toEqual([
      "click 700,400 b0 n1 cs",
      "click 700,400 b0 n2 cs",
      "dblclick 700,400 b0 n2 cs",
      "click 700,400 b0 n3 cs",
    ]);
    expect(keysInShort(events.filter(({ type }) => type.startsWith("key")))).toEqual([
      "keydown Shift ShiftLeft 16 s",
      "keydown Control ControlLeft 17 cs",
      "keyup Control ControlLeft 17 s",
      "keyup Shift ShiftLeft 16",
    ]);
    await act(instance, "click_mouse", { x: 700, y: 400, click_type: "down" });
    await act(instance, "move_mouse", { x: 720, y: 420, smooth: false });
    await act(instance, "click_mouse", { x: 730, y: 430, click_type: "up" });
    const pressed = await page.events("mousedown", "mousemove", "mouseup");
    expect(pressed.map(({ type, x, buttons }) => `${type} ${String(x)} ${String(buttons)}`)).toEqual([
      "mousemove 700 0",
      "mousedown 700 1",
      "mousemove 720 1",
      "mousemove 730 1",
      "mouseup 730 0",
    ]);
  });

  it("rejects positions outside of the page before any input", async () => {
    const width = Number(await page.evaluate("innerWidth"));
    expect(await refusalOf(instance, "click_mouse", { x: width, y: 5, hold_keys: ["Shift"] })).toMatchObject({
      status: 400,
      code: "bad_request",
      message: expect.stringContaining(
        `body.x: ${String(width)} is outside of the page, which is ${String(width)} × `,
      ) as string,
    });
    expect((await refusalOf(instance, "move_mouse", { x: 5, y: -1 })).message).toContain("body.y: -1 is outside");
    expect(
      (
        await refusalOf(instance, "drag_mouse", {
          path: [
            [5, 5],
            [5, 99_999],
          ],
        })
      ).message,
    ).toContain("body.path[1][1]: 99999 is outside");
    expect((await refusalOf(instance, "click_mouse", { x: 5, y: 5, hold_keys: ["Shift", "Nope"] })).message).toContain(
      'body.hold_keys[1]: unknown key "Nope"',
    );
    await act(instance, "click_mouse", { x: width - 1, y: 5 });
    // The last column may be a scroll bar; no rejected input arrived before this click.
    expect((await page.events("mousedown", "keydown")).every(({ x }) => x === width - 1)).toBe(true);
  });

  it("moves along a curve for the requested duration, or jumps", async () => {
    await act(instance, "move_mouse", { x: 500, y: 300, smooth: false });
    await page.events();
    const startMs = performance.now();
    await act(instance, "move_mouse", { x: 900, y: 600, duration_ms: 300 });
    expect(performance.now() - startMs).toBeGreaterThan(290);
    const moves = await page.events("mousemove");
    expect(moves.length).toBeGreaterThan(4);
    expect(moves.at(-1)).toMatchObject({ x: 900, y: 600 });
    expect(moves.every(({ x, y }) => x >= 440 && x <= 960 && y >= 240 && y <= 660)).toBe(true);
    expect(moves.every(({ x }, place) => x >= (moves[place - 1]?.x ?? 0) - 1)).toBe(true);
    await act(instance, "move_mouse", { x: 500, y: 300, smooth: false });
    expect(inShort(await page.events("mousemove"))).toEqual(["mousemove 500,300 b0 n0"]);
    expect(await act(instance, "get_mouse_position")).toEqual({ x: 500, y: 300 });
  });

  it("scrolls by notches, vertically before horizontally", async () => {
    await act(instance, "scroll", { x: 600, y: 400, delta_x: 1, delta_y: 2 });
    const turned: Recorded[] = [];
    // Chromium delivers wheel events after the page has handled the earlier ones.
    await eventually(async () => turned.push(...(await page.events("wheel"))) === 3);
    expect(turned.map(({ deltaX, deltaY, x, y }) => [deltaX, deltaY, x, y])).toEqual([
      [0, 120, 600, 400],
      [0, 120, 600, 400],
      [120, 0, 600, 400],
    ]);
    await eventually(async () => (await page.evaluate("scrollY")) === 240);
    await act(instance, "scroll", { x: 600, y: 400, delta_y: -1, hold_keys: ["Shift"] });
    await eventually(async () => (await page.events("wheel")).some(({ modifiers }) => modifiers === "s"));
    await act(instance, "scroll", { x: 600, y: 400, delta_y: 1003 });
    let sum = 0;
    await eventually(
      async () => (sum += (await page.events("wheel")).reduce((part, { deltaY }) => part + deltaY, 0)) >= 1003 * 120,
    );
    expect(sum).toBe(1003 * 120);
  });

  it("drags along a path, smoothly or in equal steps", async () => {
    await act(instance, "drag_mouse", {
      path: [
        [500, 300],
        [600, 300],
        [600, 400],
      ],
      smooth: false,
      steps_per_segment: 4,
      step_delay_ms: 1,
      hold_keys: ["Alt"],
    });
    const even = await page.events("mousemove", "mousedown", "mouseup");
    expect(
      even.map(
        ({ type, x, y, buttons, modifiers }) => `${type} ${String(x)},${String(y)} ${String(buttons)}${modifiers}`,
      ),
    ).toEqual([
      "mousemove 500,300 0a",
      "mousedown 500,300 1a",
      ...[525, 550, 575, 600].map((x) => `mousemove ${String(x)},300 1a`),
      ...[325, 350, 375, 400].map((y) => `mousemove 600,${String(y)} 1a`),
      "mouseup 600,400 0a",
    ]);
    await act(instance, "drag_mouse", {
      path: [
        [500, 300],
        [900, 500],
      ],
      duration_ms: 200,
    });
    const smooth = await page.events("mousemove", "mousedown", "mouseup");
    expect([smooth[1]?.type, smooth.at(-1)?.type, smooth.length > 6]).toEqual(["mousedown", "mouseup", true]);
    expect(smooth.at(-1)).toMatchObject({ x: 900, y: 500 });
  });

  it("drops a draggable element", async () => {
    await page.evaluate(
      `document.body.insertAdjacentHTML("beforeend", '<div id=piece draggable=true style="position:absolute;left:500px;top:300px;width:50px;height:50px;background:red"></div><div id=target style="position:absolute;left:800px;top:300px;width:50px;height:50px;background:blue"></div>'), target.ondragover = (event) => event.preventDefault(), undefined`,
    );
    await act(instance, "drag_mouse", {
      path: [
        [520, 320],
        [820, 320],
      ],
      duration_ms: 300,
    });
    const events = await page.events("dragstart", "drop");
    expect(events.map(({ type }) => type)).toEqual(["dragstart", "drop"]);
    await page.evaluate("piece.remove(), target.remove()");
  });

  it("types like a person, in any script", async () => {
    await act(instance, "type", { text: "aB1!\tü" });
    const events = await page.events("keydown", "keypress", "keyup");
    expect(keysInShort(events)).toEqual([
      "keydown a KeyA 65",
      "keypress a KeyA 97",
      "keyup a KeyA 65",
      "keydown Shift ShiftLeft 16 s",
      "keydown B KeyB 66 s",
      "keypress B KeyB 66 s",
      "keyup B KeyB 66 s",
      "keyup Shift ShiftLeft 16",
      "keydown 1 Digit1 49",
      "keypress 1 Digit1 49",
      "keyup 1 Digit1 49",
      "keydown Shift ShiftLeft 16 s",
      "keydown ! Digit1 49 s",
      "keypress ! Digit1 33 s",
      "keyup ! Digit1 49 s",
      "keyup Shift ShiftLeft 16",
      "keydown Tab Tab 9",
      "keyup Tab Tab 9",
      "keydown ü  0",
      "keypress ü  252",
      "keyup ü  0",
    ]);
    expect(events.every(({ trusted }) => trusted)).toBe(true);
    expect(await page.evaluate("field.value")).toBe("aB1!");
    await page.evaluate("field.focus()");
    await act(instance, "type", { text: "\nHello Wörld €\r\n字 😀👨‍👩‍👧" });
    expect(await page.evaluate("field.value")).toBe("aB1!\nHello Wörld €\n字 😀👨‍👩‍👧");
    expect((await refusalOf(instance, "type", { text: "a\u0007" })).message).toContain(
      "body.text: character 1 is U+0007",
    );
  });

  it("types any text", async () => {
    const text = fc
      .string({ unit: "grapheme", maxLength: 12 })
      .map((given) => given.replaceAll(/[\p{Cc}\p{Cs}]/gu, "x"));
    await fc.assert(
      fc.asyncProperty(text, async (typed) => {
        await page.evaluate("field.value = ''");
        await act(instance, "type", { text: typed });
        expect(await page.evaluate("field.value")).toBe(typed);
      }),
      { numRuns: 15 },
    );
  });

  it("waits between two characters", async () => {
    await act(instance, "type", { text: "abc", delay: 100 });
    const times = (await page.events("keydown")).map(({ atMs }) => atMs);
    expect(times[1] ?? 0).toBeGreaterThan((times[0] ?? 0) + 80);
    expect(times[2] ?? 0).toBeGreaterThan((times[1] ?? 0) + 80);
  });

  it("accepts the common names of keys", async () => {
    const names: Readonly<Record<string, string>> = {
      Return: "Enter Enter 13",
      enter: "Enter Enter 13",
      KP_Enter: "Enter NumpadEnter 13",
      BackSpace: "Backspace Backspace 8",
      Tab: "Tab Tab 9",
      Escape: "Escape Escape 27",
      Delete: "Delete Delete 46",
      Left: "ArrowLeft ArrowLeft 37",
      ArrowUp: "ArrowUp ArrowUp 38",
      Page_Down: "PageDown PageDown 34",
      Prior: "PageUp PageUp 33",
      Home: "Home Home 36",
      F8: "F8 F8 119",
      F13: "F13 F13 124",
      space: "  Space 32",
      a: "a KeyA 65",
      KP_5: "5 Numpad5 101",
      Super_L: "Meta MetaLeft 91 m",
      Alt: "Alt AltLeft 18 a",
      plus: "+ Equal 187 s",
      "+": "+ Equal 187 s",
      adiaeresis: "ä  0",
      U20AC: "€  0",
      é: "é  0",
      Menu: "ContextMenu ContextMenu 93",
      Caps_Lock: "CapsLock CapsLock 20",
    };
    for (const [name, seen] of Object.entries(names)) {
      await act(instance, "press_key", { keys: [name] });
      const downs = keysInShort(await page.events("keydown")).filter((event) => !event.startsWith("keydown Shift"));
      expect([name, ...downs]).toEqual([name, `keydown ${seen}`]);
    }
    const pad = async () => {
      await act(instance, "press_key", { keys: ["KP_1", "Shift_R"] });
      return (await page.events("keydown")).map(({ key, location }) => `${key} ${String(location)}`);
    };
    expect(await pad()).toEqual(["1 3", "Shift 2"]);
    expect(await refusalOf(instance, "press_key", { keys: ["a", "Bogus"] })).toMatchObject({
      status: 400,
      message: expect.stringContaining('body.keys[1]: unknown key "Bogus"') as string,
    });
  });

  it("presses chords with the same effect as for a person", async () => {
    await act(instance, "press_key", { keys: ["Ctrl+Shift+Left"] });
    expect(keysInShort(await page.events("keydown", "keyup"))).toEqual([
      "keydown Control ControlLeft 17 c",
      "keydown Shift ShiftLeft 16 cs",
      "keydown ArrowLeft ArrowLeft 37 cs",
      "keyup ArrowLeft ArrowLeft 37 cs",
      "keyup Shift ShiftLeft 16 c",
      "keyup Control ControlLeft 17",
    ]);
    await act(instance, "type", { text: "some words" });
    await act(instance, "press_key", { keys: ["Ctrl+A", "ctrl+c", "End", "ctrl+v"] });
    expect(await page.evaluate("field.value")).toBe("some wordssome words");
    await act(instance, "press_key", { keys: ["Ctrl+a", "X"] });
    expect(await page.evaluate("field.value")).toBe("X");
    await act(instance, "press_key", { keys: ["a", "b"], hold_keys: ["Shift"] });
    expect(await page.evaluate("field.value")).toBe("XAB");
  });

  it("holds a key until it repeats", async () => {
    const startMs = performance.now();
    await act(instance, "press_key", { keys: ["z"], duration: 1000 });
    expect(performance.now() - startMs).toBeGreaterThan(990);
    const downs = await page.events("keydown");
    // A loaded machine repeats more slowly.
    expect(downs.length).toBeGreaterThan(1);
    expect(downs.map(({ repeat }) => repeat)).toEqual([false, ...downs.slice(1).map(() => true)]);
    expect(await page.evaluate("field.value")).toBe("z".repeat(downs.length));
  });

  it("runs a batch in order, up to the first failure", async () => {
    const startMs = performance.now();
    await act(instance, "batch", {
      actions: [
        { type: "click_mouse", click_mouse: { x: 100, y: 50 } },
        { type: "type_text", type_text: { text: "one" } },
        { type: "sleep", sleep: { duration_ms: 200 } },
        { type: "press_key", press_key: { keys: ["Return"] } },
        { type: "scroll", scroll: { x: 600, y: 400, delta_y: 1 } },
        { type: "move_mouse", move_mouse: { x: 650, y: 450, smooth: false } },
        {
          type: "drag_mouse",
          drag_mouse: {
            path: [
              [650, 450],
              [660, 460],
            ],
            duration_ms: 50,
          },
        },
        { type: "set_cursor", set_cursor: { hidden: true } },
      ],
    });
    expect(performance.now() - startMs).toBeGreaterThan(200);
    expect(await page.evaluate("field.value")).toBe("one\n");
    expect(await act(instance, "get_mouse_position")).toEqual({ x: 660, y: 460 });
    await page.events();
    const failed = await refusalOf(instance, "batch", {
      actions: [
        { type: "click_mouse", click_mouse: { x: 700, y: 400 } },
        { type: "press_key", press_key: { keys: ["Bogus"] } },
        { type: "click_mouse", click_mouse: { x: 701, y: 400 } },
      ],
    });
    expect(failed).toMatchObject({
      status: 400,
      failed_action: 1,
      message: expect.stringContaining("Action 1 (press_key) failed") as string,
    });
    expect((await page.events("click")).map(({ x }) => x)).toEqual([700]);
    const unfit = await refusalOf(instance, "batch", { actions: [{ type: "click_mouse" }] });
    expect([unfit.status, unfit.failed_action]).toEqual([400, undefined]);
  });

  it("runs concurrent calls one after another", async () => {
    await Promise.all(["aaaa", "bbbb", "cccc"].map((text) => act(instance, "type", { text, delay: 5 })));
    expect(await page.evaluate("field.value")).toMatch(/^(?:aaaa|bbbb|cccc){3}$/);
  });
});
