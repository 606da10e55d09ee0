import type { PageObservation } from "@shoal/schemas";
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
  function click([x, y]: readonly [number, number], more: object = {}): void {
    send(mouse("move", [x, y]), mouse("down", [x, y], more), mouse("up", [x, y], more));
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
  /** Pages report what they see in their titles. */
  async function titleNow(): Promise<string | undefined> {
    const { text } = await session.instance.call("POST", "/observe", "{}");
    return (JSON.parse(text) as PageObservation).tabs.find(({ active }) => active)?.title;
  }
  const becomes = (title: string) => eventually(`the title ${title}`, async () => (await titleNow()) === title);

  it("becomes actions with roles and names, without the values of secret fields", async () => {
    session.page("/thanks", "<title>thanks</title><h1>Thank you</h1>");
    await session.show(`<title>form</title>
      <style>form > * { position: absolute; left: 10px; width: 200px; height: 30px; margin: 0; box-sizing: border-box }</style>
      <form method=post action="/thanks" oninput="document.title = [a, p, n, s, t, o].map((one) => one.type === 'checkbox' ? one.checked : one.value).join()">
      <input id=a name=name aria-label=Name style="top:0">
      <input id=p type=password name=pw aria-label=Password style="top:40px">
      <label style="top:80px">News <input id=n type=checkbox name=news></label>
      <select id=s name=size aria-label=Size style="top:120px"><option>small<option>large</select>
      <textarea id=t name=note aria-label=Note style="top:160px"></textarea>
      <input id=o name=town aria-label=Town style="top:200px"><button style="top:240px">Order</button></form>`);
    click([50, 15]);
    type("adx");
    press("Backspace");
    type("a");
    press("Tab");
    type("geheim77");
    await becomes("ada,geheim77,false,small,,");
    click([30, 95]);
    press("Tab");
    press("ArrowDown");
    await becomes("ada,geheim77,true,large,,");
    click([50, 175]);
    send({ type: "paste", text: "two words" });
    await becomes("ada,geheim77,true,large,two words,");
    click([50, 215]);
    type("oslo");
    press("Enter");
    await becomes("thanks");
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

  it("reads a field when its page has handled its keys and its paste", async () => {
    const names = ["One", "Two", "Three", "Four"];
    await session.show(`<title>busy</title>
      ${names.map((name) => `<input aria-label=${name}>`).join("")}<script>
      const fields = [...document.querySelectorAll("input")];
      onkeydown = oninput = () => {
        for (const end = Date.now() + 40; Date.now() < end; );
        document.title = fields.map(({ value }) => value).join();
      };
      fields[0].focus();</script>`);
    for (const name of names) {
      if (name === "Two") send({ type: "paste", text: "two words" });
      else if (name === "Three") send({ type: "text", text: "three" });
      else type("oslo");
      press("Tab");
    }
    await becomes("oslo,two words,three,oslo");
    expect(await done()).toEqual([
      { action: "fill", on: "textbox One", text: "oslo" },
      { action: "fill", on: "textbox Two", text: "two words" },
      { action: "fill", on: "textbox Three", text: "three" },
      { action: "fill", on: "textbox Four", text: "oslo" },
    ]);
  });

  it("names the element in frames, double clicks, keys, dialogs and navigations, and what a flow cannot repeat", async () => {
    session.page("/inner", "<body style='margin:0'><button onclick='top.postMessage(1, `*`)'>Inside</button>");
    await session.show(`<title>start</title>
      <style>body > * { position: absolute; left: 10px; width: 200px; height: 30px; margin: 0; box-sizing: border-box }</style>
      <script>seen = []; see = (one) => { seen.push(one); document.title = seen.join(); };
        onmessage = () => see("frame"); onkeydown = ({ key }) => see(key);</script>
      <iframe src="${session.url("/inner", "localhost")}" style="top:0; border:3px solid; height:60px"></iframe>
      <button style="top:80px" ondblclick="see('twice')">Twice</button>
      <button style="top:120px" onclick="see(confirm('Sure?'))"><span>Ask</span></button>
      <button style="top:160px" onclick="see('held')">Held</button><p id=plain style="top:200px">Text</p>
      <a style="top:240px" href="/thanks">Thanks</a>`);
    const [twice, ask, held, plain, link] = ([80, 120, 160, 200, 240] as const).map((top) => [50, top + 15] as const);
    click([25, 12]);
    await becomes("frame");
    click(twice ?? [0, 0]);
    click(twice ?? [0, 0], { clicks: 2 });
    await becomes("frame,twice");
    click(held ?? [0, 0], { modifiers: 8 });
    await becomes("frame,twice,held");
    send(mouse("down", held ?? [0, 0]), mouse("move", ask ?? [0, 0], { buttons: 1 }), mouse("up", ask ?? [0, 0]));
    click(plain ?? [0, 0]);
    press("j");
    press("Escape");
    await becomes("frame,twice,held,j,Escape");
    click(ask ?? [0, 0]);
    await eventually("the dialog", async () => {
      const { text } = await session.instance.call("POST", "/observe", "{}");
      return (JSON.parse(text) as PageObservation).dialog !== undefined;
    });
    send({ type: "dialog", accept: true });
    await becomes("frame,twice,held,j,Escape,true");
    click(link ?? [0, 0]);
    await becomes("thanks");
    send({ type: "history", action: "back" });
    await eventually("the page before", async () => !["thanks", "", undefined].includes(await titleNow()));
    expect(await done()).toEqual([
      { action: "click", on: "button Inside" },
      { action: "click", on: "button Twice", click_count: 2 },
      { action: "click", on: "button Held", other_fields: ["hold_keys"] },
      { action: "drag", on: "button Held" },
      { action: "click", on: "paragraph " },
      { action: "press", is_hidden: true },
      { action: "press", keys: ["Escape"] },
      { action: "click", on: "button Ask" },
      { action: "answer_dialog", accept: true },
      { action: "click", on: "link Thanks", navigated: true },
      expect.objectContaining({ action: "back" }),
    ]);
  });

  it.each(["host", "document.body"])("hides characters for a field in the closed shadow root of %s", async (host) => {
    await session.show(`<title>closed</title><div id=host></div><script>
      const root = ${host}.attachShadow({ mode: "closed" });
      root.innerHTML = "<input type=password aria-label=PIN>";
      const field = root.querySelector("input");
      field.oninput = () => { document.title = String(field.value.length); };
      field.focus();</script>`);
    type("hunter22");
    await becomes("8");
    expect(await done()).toEqual(
      [{ action: "press", is_hidden: true }].map((one) => expect.objectContaining(one) as unknown),
    );
    expect(JSON.stringify(await acts())).not.toMatch(/hunter|"h"/);
  });

  it("hides characters that a page collects without a field, also those with AltGr", async () => {
    await session.show(`<title>pin</title><script>
      let pin = "";
      onkeydown = ({ key }) => { if (key.length === 1) pin += key; document.title = String(pin.length); };</script>`);
    type("4829");
    press("€", { modifiers: 3 });
    await becomes("5");
    expect(await done()).toEqual([{ action: "press", is_hidden: true }]);
    expect(JSON.stringify(await acts())).not.toMatch(/"[4829€]"|€/);
  });

  it("happens in the page although the viewer leaves at once", async () => {
    await session.show(`<title>wait</title><button style="position:absolute; top:0; left:0; width:200px; height:30px"
      onclick="document.title = 'done'">Go</button>`);
    const { listen_path: path } = session.instance.config;
    const other = new WebSocket(`ws+unix://${path}:/live-view?mode=control&viewer=other`);
    await once(other, "open");
    for (const message of [mouse("move", [50, 15]), mouse("down", [50, 15]), mouse("up", [50, 15])])
      other.send(JSON.stringify(message));
    other.close();
    await becomes("done");
    expect(await done()).toEqual([expect.objectContaining({ action: "click" })]);
  });
});
