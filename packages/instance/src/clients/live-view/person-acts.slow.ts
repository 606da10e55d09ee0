import { eventually } from "@shoal/testkit";
import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { WebSocket } from "ws";
import { ActingSession } from "../../operations/pages/testing/acting-session.ts";
import { RecordedActs } from "../../protocol/flow.ts";
import { findChromium } from "../../testing/chromium.ts";
import type { ViewerMessage } from "./messages.ts";

const executable = findChromium("headless_shell");
const isMissing = executable === undefined && process.env.SHOAL_REQUIRE_ALL !== "1";

describe.skipIf(isMissing)("what a person does in a live view", () => {
  const session = new ActingSession({ kind: "headless_shell", executable: executable ?? "missing" });
  let socket: WebSocket;
  let before = 0;
  beforeAll(async () => {
    socket = new WebSocket(`ws+unix://${session.instance.config.listen_path}:/live-view?mode=control&viewer=tester`);
    socket.on("message", (_data, isBinary) => {
      if (isBinary) send({ type: "drawn" });
    });
    await once(socket, "open");
  });
  afterAll(() => {
    socket.close();
  });
  beforeEach(async () => {
    before = (await acts()).length;
  });

  async function acts(): Promise<RecordedActs["acts"]> {
    const { text } = await session.instance.call("POST", "/_instance/page/acts");
    return RecordedActs.parse(JSON.parse(text)).acts;
  }
  /** Without the navigation of the test to its page. */
  async function done(): Promise<object[]> {
    return (await acts()).slice(before + 1).map(({ action, is_hidden, target, ...act }) => {
      const { accept, button, click_count, keys, navigated, other_fields, submit, text, values } = act;
      const said = { accept, button, click_count, keys, other_fields, submit, text, values };
      return {
        action,
        ...(target && { on: `${target.role ?? ""} ${target.name ?? ""}` }),
        ...(is_hidden === true && { is_hidden }),
        ...(navigated && { navigated }),
        ...Object.fromEntries(Object.entries(said).filter(([, value]) => value !== undefined)),
      };
    });
  }
  function send(...messages: ViewerMessage[]): void {
    for (const message of messages) socket.send(JSON.stringify(message));
  }
  const mouse = (action: "move" | "down" | "up", [x, y]: readonly [number, number], more: object = {}) =>
    ({
      ...{ type: "mouse", action, x, y, button: action === "move" ? "none" : "left" },
      ...{ buttons: action === "down" ? 1 : 0, clicks: action === "move" ? 0 : 1, modifiers: 0 },
      ...more,
    }) as ViewerMessage;
  async function placeOf(selector: string): Promise<readonly [number, number]> {
    return (await session.evaluate(
      `(() => { const { x, y, width, height } = document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect(); return [x + width / 2, y + height / 2]; })()`,
    )) as [number, number];
  }
  async function click(selector: string, more: object = {}): Promise<void> {
    const place = await placeOf(selector);
    send(mouse("move", place), mouse("down", place, more), mouse("up", place, more));
  }
  function press(key: string, more: object = {}): void {
    const typed = key.length === 1 ? { text: key } : key === "Enter" ? { text: "\r" } : {};
    const codes: Readonly<Record<string, number>> = { Enter: 13, Tab: 9, Backspace: 8, ArrowDown: 40, " ": 32 };
    const base = {
      ...{ type: "key", key, code: key === " " ? "Space" : key.length === 1 ? `Key${key.toUpperCase()}` : key },
      ...{ key_code: codes[key] ?? key.toUpperCase().charCodeAt(0), location: 0, modifiers: 0, repeat: false },
      ...more,
    };
    send({ ...base, action: "down", ...typed } as ViewerMessage, { ...base, action: "up" } as ViewerMessage);
  }
  function type(text: string): void {
    for (const character of text) press(character);
  }
  const becomes = (expression: string, value: unknown) =>
    eventually(expression, async () => (await session.evaluate(expression)) === value);

  it("becomes actions with roles and names, without the values of secret fields", async () => {
    session.page("/thanks", "<title>thanks</title><h1>Thank you</h1>");
    await session.show(`<form action="/thanks">
      <label>Name <input name=name></label>
      <label>Password <input type=password name=pw></label>
      <label><input type=checkbox name=news> News</label>
      <label>Size <select name=size><option>small<option>large</select></label>
      <label>Note <textarea name=note></textarea></label>
      <label>Town <input name=town></label>
      <button>Order</button></form>`);
    await click("[name=name]");
    type("adx");
    press("Backspace");
    type("a");
    press("Tab");
    type("geheim77");
    await becomes("document.querySelector('[name=pw]').value", "geheim77");
    await click("[name=news]");
    press("Tab");
    press("ArrowDown");
    await becomes("document.querySelector('[name=size]').value", "large");
    await click("[name=note]");
    send({ type: "paste", text: "two words" });
    await becomes("document.querySelector('[name=note]').value", "two words");
    await click("[name=town]");
    type("oslo");
    press("Enter");
    await becomes("document.title", "thanks");
    expect(await done()).toEqual([
      { action: "fill", on: "textbox Name", text: "ada" },
      { action: "fill", on: "textbox Password", is_hidden: true },
      { action: "check", on: "checkbox News", accept: true },
      { action: "select", on: "combobox Size", values: ["large"] },
      { action: "fill", on: "textbox Note", text: "two words" },
      { action: "fill", on: "textbox Town", text: "oslo", submit: true, navigated: true },
    ]);
    expect(JSON.stringify(await acts())).not.toContain("geheim");
  });

  it("names the element in frames, double clicks, keys, dialogs and navigations, and what a flow cannot repeat", async () => {
    session.page("/inner", "<body style='margin:0'><button onclick='top.postMessage(1, `*`)'>Inside</button>");
    await session.show(`<script>seen = []; onmessage = () => seen.push("frame"); onkeydown = ({ key }) => seen.push(key)</script>
      <iframe src="${session.url("/inner", "localhost")}" width=200 height=60 style="border:3px solid"></iframe>
      <button id=twice ondblclick="seen.push('twice')">Twice</button>
      <button id=ask onclick="seen.push(confirm('Sure?'))"><span>Ask</span></button>
      <button id=held onclick="seen.push('held')">Held</button><p id=plain>Text</p>
      <a href="/thanks">Thanks</a>`);
    const [x, y] = await placeOf("iframe");
    const inside = [x - 100 + 3 + 15, y - 30 + 3 + 8] as const;
    send(mouse("down", inside), mouse("up", inside));
    await becomes("seen.join()", "frame");
    await click("#twice");
    await click("#twice", { clicks: 2 });
    await becomes("seen.join()", "frame,twice");
    await click("#held", { modifiers: 8 });
    await becomes("seen.join()", "frame,twice,held");
    const [from, to] = [await placeOf("#held"), await placeOf("#twice")];
    send(mouse("down", from), mouse("move", to, { buttons: 1 }), mouse("up", to));
    await click("#plain");
    press("j");
    press("Escape");
    await becomes("seen.join()", "frame,twice,held,j,Escape");
    const ask = await placeOf("#ask");
    const opened = eventually("the dialog", async () => {
      const { dialog } = JSON.parse((await session.instance.call("POST", "/observe", "{}")).text) as {
        dialog?: object;
      };
      return dialog !== undefined;
    });
    send(mouse("down", ask), mouse("up", ask));
    await opened;
    send({ type: "dialog", accept: true });
    await becomes("seen.join()", "frame,twice,held,j,Escape,true");
    await click("a");
    await becomes("document.title", "thanks");
    send({ type: "history", action: "back" });
    await becomes("document.title", "");
    expect(await done()).toEqual([
      { action: "click", on: "button Inside" },
      { action: "click", on: "button Twice", click_count: 2 },
      { action: "click", on: "button Held", other_fields: ["hold_keys"] },
      { action: "drag", on: "button Held" },
      { action: "click", on: expect.stringContaining("Text") as unknown },
      { action: "press", keys: ["j", "Escape"] },
      { action: "click", on: "button Ask" },
      { action: "answer_dialog", accept: true },
      { action: "click", on: "link Thanks", navigated: true },
      { action: "back", navigated: true },
    ]);
  });

  it("hides characters that a part of the page gets where no script sees the field", async () => {
    await session.show(`<div id=host></div><script>
      const root = host.attachShadow({ mode: "closed" });
      root.innerHTML = "<input type=password aria-label=PIN>";
      read = () => root.querySelector("input").value; focusField = () => root.querySelector("input").focus();</script>`);
    await session.evaluate("focusField()");
    type("hunter22");
    await becomes("read()", "hunter22");
    expect(await done()).toEqual([expect.objectContaining({ action: "press", is_hidden: true })]);
    expect(JSON.stringify(await acts())).not.toMatch(/hunter|"h"/);
  });
});
