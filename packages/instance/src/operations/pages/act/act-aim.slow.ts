import type { ActOnPage } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

describe("a link or a button inside of a control", () => {
  const note = `<script>const note = (text) => { document.title += " " + text; return false; }; document.title = "";</script>`;
  const link = `<a href=/terms onclick="return note('terms')">terms and conditions of this service</a>`;
  it.each<[string, string, ActOnPage]>([
    [
      "the label of a hidden box",
      `<input id=a type=checkbox style="display:none" onchange="note('checked')"><label for=a style="display:block;width:400px">I agree to the ${link}</label>`,
      { type: "check" },
    ],
    [
      "a label",
      `<label id=a><input type=checkbox onchange="note('checked')"> I agree to the ${link}</label>`,
      { type: "click" },
    ],
    [
      "a label with a button",
      `<label id=a style="display:block;width:400px"><input type=radio onchange="note('checked')">Plan <button type=button onclick="note('info')" style="width:250px">?</button></label>`,
      { type: "click" },
    ],
    [
      "a card",
      `<div id=a onclick="note('checked')" style="width:300px;height:100px;text-align:center">Open<br><button onclick="event.stopPropagation(); note('delete')" style="width:200px;height:60px">Delete</button></div>`,
      { type: "click" },
    ],
  ])("is not clicked instead of %s", async (_title, html, act) => {
    await session.show(`${note}${html}`);
    await session.done({ ...act, selector: "#a" });
    expect(await session.evaluate("document.title.trim()")).toBe("checked");
  });

  it.each([
    [
      "cell",
      `<table role=grid><tr><td id=a tabindex=-1 role=gridcell style="width:200px;height:60px;text-align:center"><button onclick="document.title = 'inner'">17</button></table>`,
    ],
    [
      "part around it",
      `<div id=a style="width:200px;text-align:center"><button onclick="document.title = 'inner'">Go</button></div>`,
    ],
    ["label that is all link", `<label id=a><a href="#x" onclick="document.title = 'inner'">Terms</a></label>`],
  ])("is clicked for a %s", async (_title, html) => {
    await session.show(html);
    await session.done({ type: "click", selector: "#a" });
    expect(await session.evaluate("document.title")).toBe("inner");
  });
});

describe("the wheel", () => {
  const list = `<div id=list style="height:300px;overflow:auto"><div style="height:3000px">List</div></div>`;
  const cover = (style: string): string =>
    `<div id=cover style="position:absolute;left:0;width:100%;overflow:auto;background:#ccc;${style}"><div style="height:900px">Panel</div></div>`;

  it("turns the element where a panel covers its middle", async () => {
    await session.show(`${list}${cover("top:100px;height:120px")}`);
    await session.done({ type: "scroll", selector: "#list", delta_y: 500 });
    expect(await session.evaluate("[list.scrollTop, cover.scrollTop]")).toEqual([500, 0]);
  });

  it("turns no panel that covers the whole element", async () => {
    await session.show(`${list}${cover("top:0;height:330px")}`);
    // At the end of its time, a busy page may not answer.
    await eventuallyPasses(async () => {
      const refused = await session.act({ type: "scroll", selector: "#list", delta_y: 500, timeout_ms: 2_000 });
      expect(refused.message).toContain("is covered by div#cover");
    });
    expect(await session.evaluate("[list.scrollTop, cover.scrollTop]")).toEqual([0, 0]);
    await session.done({ type: "scroll", selector: "#list" });
  });
});

it("shows what the browser shows some time after the pointer has come", async () => {
  await session.show(`<button id=b interestfor=tip>More</button><div id=tip popover=hint>The hint</div>`);
  const { observation } = await session.done({ type: "hover", selector: "#b", observe: {} });
  expect(observation?.outline).toContain("The hint");
});

it("drags nothing to an element of another tab", async () => {
  await session.show(`<button>From</button>`);
  const from = (await session.done({ type: "hover", role: "button", name: "From" })).element?.ref ?? "";
  const { tab } = await session.done({ type: "open_tab", url: session.url("/drop") });
  const to = (await session.done({ type: "hover", role: "button", name: "To" })).element?.ref ?? "";
  const refused = await session.act({ type: "drag", ref: from, to: { ref: to } });
  expect(refused).toMatchObject({ status: 400, code: "bad_request" });
  expect(refused.message).toMatch(/^body\.to\.ref: is in t\d+, and e\d+ in t\d+/);
  await session.done({ type: "close_tab", tab });
});
session.page("/drop", `<button>To</button>`);

describe("a frame that comes over an element", () => {
  session.page(
    "/over",
    `<script>for (const type of ["pointerdown", "mousedown", "mouseup", "click"]) addEventListener(type, () => parent.postMessage(type, "*"), true);</script>`,
  );
  it.each([
    ["blinks", `setInterval(() => { f.style.display = f.style.display === "none" ? "" : "none"; }, 7);`],
    [
      "comes with the pointer",
      `f.style.display = "none"; b.onpointermove = () => { f.style.display = ""; setTimeout(() => { f.style.display = "none"; }, 60); };`,
    ],
  ])("gets no press of a drag: it %s", async (_title, script) => {
    for (const host of ["localhost", "127.0.0.1"]) {
      await session.show(`<button id=b style="position:absolute;left:100px;top:100px;width:120px;height:40px" onmousedown="pressed++">Drag</button>
        <iframe id=f src="${session.url("/over", host)}" style="position:absolute;left:80px;top:80px;width:300px;height:100px;border:0;opacity:.01"></iframe>
        <script>let pressed = 0; const received = []; onmessage = ({ data }) => received.push(data); ${script}</script>`);
      let dragged = 0;
      // On a busy machine, a try may end without a press.
      for (let round = 0; round < 5 || dragged === 0; round++) {
        const { code } = await session.act({ type: "drag", selector: "#b", delta_x: 20, timeout_ms: 1_500 });
        if ((code as string | undefined) === undefined) dragged++;
      }
      expect(await session.evaluate("received.filter((type) => /down|click/.test(type))")).toEqual([]);
      expect(await session.evaluate("pressed")).toBe(dragged);
      expect(await session.evaluate("f.inert")).toBe(false);
    }
  });
});

it.each<[string, string, ActOnPage]>([
  ["a list", "<select id=a><option>1<option>2</select>", { type: "select", values: ["2"] }],
  ["a date", "<input id=a type=date>", { type: "fill", text: "2026-05-04" }],
])("answers with the dialog that a change of %s opens", async (_title, html, act) => {
  await session.show(`${html}<script>a.onchange = () => alert("Changed " + a.value);</script>`);
  const message = `Changed ${act.text ?? "2"}`;
  expect((await session.done({ ...act, selector: "#a" })).dialog).toMatchObject({ type: "alert", message });
  await session.done({ type: "answer_dialog" });
});
