import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

describe("an element that is not ready", () => {
  it("is clicked when it becomes visible, enabled, still and uncovered", async () => {
    await session.show(`<style>#cover { position: fixed; inset: 0; background: #fff }</style>
      <button id=b disabled style="display:none;position:relative" onclick="this.textContent = 'Clicked'">Go</button><div id=cover></div><script>
      setTimeout(() => { b.style.display = "inline-block"; }, 100);
      setTimeout(() => { b.disabled = false; }, 200);
      setTimeout(() => { b.animate([{ left: 0 }, { left: "200px" }], 200); }, 250);
      setTimeout(() => { cover.remove(); }, 600);</script>`);
    const { element } = await session.done({ type: "click", selector: "#b" });
    expect(element).toMatchObject({ role: "button", name: "Clicked", states: ["focused"] });
  });

  it.each([
    ["not visible", `<button id=b style="visibility:hidden">Go</button>`, 'button "', "is not visible"],
    ["disabled", `<fieldset disabled><button id=b>Go</button></fieldset>`, '(button "Go")', "is disabled"],
  ])("is named by the error if it stays %s", async (_title, html, _name, problem) => {
    await session.show(html);
    const refused = await session.act({ type: "click", selector: "#b", timeout_ms: 2000 });
    expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
    expect(refused.message).toContain(problem);
  });

  it("is named with the element that covers it", async () => {
    await session.show(`<button id=b>Go</button><div class="cookie-banner" role=dialog aria-label=Cookies
      style="position:fixed;inset:0;background:#eee"><button onclick="this.parentNode.remove()">Accept</button></div>`);
    const refused = await session.act({ type: "click", selector: "#b", timeout_ms: 2000 });
    expect(refused.message).toMatch(/^e\d+ \(button "Go"\) is covered by div\.cookie-banner \[e\d+\]/);
    await session.done({ type: "click", selector: ".cookie-banner button" });
    await session.done({ type: "click", selector: "#b" });
  });

  it.each([
    [
      "listbox",
      `<ul id=b role=listbox aria-label=L tabindex=0><li><div role=option>Iron</div><li><div role=option>Gold</div><li><div role=option>Lead</div></ul>`,
    ],
    ["listbox", `<select id=b multiple size=3 aria-label=L><option>Iron<option>Gold<option>Lead</select>`],
    [
      "tablist",
      `<div id=b role=tablist aria-label=L style="display:flex"><div role=tab style="flex:1">Iron</div></div>`,
    ],
  ])("chooses no item when a %s is clicked: %s", async (role, html) => {
    await session.show(
      `${html}<script>chosen = []; b.onclick = ({ target }) => chosen.push(target.textContent)</script>`,
    );
    const refused = await session.act({ type: "click", selector: "#b" });
    expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
    expect(refused.message).toMatch(new RegExp(`^e\\d+ \\(${role} "L"\\) holds items .* would choose e\\d+ \\(`));
    expect(await session.evaluate("chosen")).toEqual([]);
    const [, item = ""] = / would choose (e\d+) /.exec(refused.message) ?? [];
    if (!html.startsWith("<select")) await session.done({ type: "click", ref: item });
    else await session.done({ type: "select", selector: "#b", values: ["Gold"] });
  });

  it("is clicked at its margin where the rest would choose an item", async () => {
    await session.show(`<ul id=b role=listbox aria-label=L style="padding:40px 0;margin:0;height:20px;list-style:none"><li role=option onclick="document.title = 'chosen'">Iron</ul>
      <script>b.onclick = () => { document.title ||= "list" }</script>`);
    await session.done({ type: "click", selector: "#b" });
    expect(await session.evaluate("document.title")).toBe("list");
  });

  it("is clicked where another element does not cover it", async () => {
    await session.show(`<div style="position:relative;width:200px"><button id=b style="width:200px;height:60px" onclick="this.textContent = 'Clicked'">Go</button>
      <div style="position:absolute;left:70px;top:0;width:60px;height:60px;background:#ccc"></div></div>`);
    expect((await session.done({ type: "click", selector: "#b" })).element).toMatchObject({ name: "Clicked" });
  });

  it("is replaced when the pointer reaches it, and clicked then", async () => {
    await session.show(`<div id=place><button id=b onmouseenter="replace()">Old</button></div><p id=out></p><script>
      function replace() { place.innerHTML = '<button id=b onclick="out.textContent = 1">New</button>'; }</script>`);
    expect((await session.done({ type: "click", selector: "#b" })).element).toMatchObject({ name: "New" });
    expect(await session.evaluate("out.textContent")).toBe("1");
  });
});

describe("the element of an answer", () => {
  it.each([
    ["<summary>More</summary>", "button", "More"],
    ["<canvas tabindex=0 aria-label=Chart width=50 height=50></canvas>", "clickable", "Chart"],
    ["<input type=date aria-label=Day>", "textbox", "Day"],
    ["<input type=color aria-label=Ink>", "textbox", "Ink"],
    [`<div style="cursor:pointer" onclick="this.textContent = 'Done'">Do</div>`, "clickable", "Done"],
    [`<dialog id=d>x</dialog><button onclick="d.showModal()">Open</button>`, "button", "Open"],
    [`<dialog id=d>x</dialog><button aria-label=Add onclick="d.showModal()">+</button>`, "button", "+"],
  ])("has the role of the outline: %s", async (html, role, name) => {
    await session.show(`<details>${html}</details>`.replace(/<details>(?!<summary)(.*)<\/details>/, "$1"));
    const { observation } = await session.done({ type: "wait_for", selector: "body", observe: {} });
    const ref = /\[(e\d+)\]/.exec(observation?.outline ?? "")?.[1] ?? "";
    expect((await session.done({ type: "click", ref })).element).toMatchObject({ role, name, ref });
  });
});

describe("a control that does not stop", () => {
  it.each([
    ["pulses", "@keyframes move { to { transform: scale(1.1) } }", ".4s infinite alternate"],
    ["travels", "@keyframes move { to { transform: translateX(300px) } }", "2s linear infinite alternate"],
    ["turns", "@keyframes move { to { transform: rotate(360deg) } }", "1s linear infinite"],
    ["jumps back", "@keyframes move { to { transform: translateX(-200px) } }", "1.5s linear infinite"],
  ])("is clicked where it is: it %s", async (_title, keyframes, animation) => {
    await session.show(`<style>${keyframes} #b { margin-left: 250px; animation: move ${animation} }</style>
      <p onclick="document.title = 'missed'"><button id=b onclick="this.textContent = 'Clicked'; event.stopPropagation()">Go</button></p>`);
    expect((await session.done({ type: "click", selector: "#b", timeout_ms: 20000 })).element?.name).toBe("Clicked");
    expect(await session.evaluate("document.title")).not.toBe("missed");
  });
});

describe("a toggle that a person uses by its label", () => {
  const hidden = "position:absolute;width:1px;height:1px;margin:-1px;overflow:hidden;clip:rect(0 0 0 0)";
  it.each([
    [
      "is one pixel below a neighbour's label",
      `<span><label for=s#>&#9733;</label><input style="${hidden}" type=radio name=s id=s#></span>`,
    ],
    [
      "is transparent at one place with the others",
      `<input style="position:absolute;left:8px;opacity:0" type=radio name=s id=s#><label for=s# style="position:relative;background:#fff">Star</label> `,
    ],
    ["is not displayed", `<input style="display:none" type=radio name=s id=s#><label for=s#>Star</label> `],
  ])("is clicked and checked by it: it %s", async (_title, star) => {
    await session.show(
      `<div style="position:relative">${[1, 2, 3, 4, 5].map((place) => star.replaceAll("#", String(place))).join("")}</div>`,
    );
    await session.done({ type: "check", selector: "#s3" });
    expect(await session.evaluate("document.querySelector(':checked').id")).toBe("s3");
    await session.done({ type: "click", selector: "#s5" });
    expect(await session.evaluate("document.querySelector(':checked').id")).toBe("s5");
  });
});

describe("targets", () => {
  it("lists candidates of an ambiguous selector, and accepts their references", async () => {
    await session.show(
      `<button class=b onclick="this.textContent = 'First clicked'">First</button><button class=b>Second</button>`,
    );
    const refused = await session.act({ type: "click", selector: ".b" });
    expect(refused).toMatchObject({ status: 409, code: "ambiguous_target" });
    const [, ref] = /(e\d+) \(button "First"\)/.exec(refused.message) ?? [];
    expect((await session.done({ type: "click", ref: ref ?? "" })).element).toMatchObject({
      name: "First clicked",
      ref,
    });
  });

  it("ignores hidden copies", async () => {
    await session.show(`<nav hidden><a href=#a>More</a></nav><a href=#b>More</a>`);
    expect(await session.done({ type: "click", selector: "a" })).toMatchObject({ navigated: true });
    expect(await session.evaluate("location.hash")).toBe("#b");
  });

  it("answers quickly for ten thousand matches", async () => {
    await session.show(`<script>document.write("<b>x</b>".repeat(10000))</script>`);
    expect(await session.act({ type: "click", selector: "b" })).toMatchObject({ code: "ambiguous_target" });
  });

  it("refuses an invalid selector, and fields of other actions, with the field", async () => {
    expect(await session.act({ type: "click", selector: "a[" })).toMatchObject({ status: 400, field: "body.selector" });
    expect(await session.act({ type: "click", selector: "a", text: "x" })).toMatchObject({ field: "body.text" });
  });

  it("are found by role and name, also when they arrive later", async () => {
    await session.show(`<button>Save draft</button><div id=place></div><script>
      setTimeout(() => { place.innerHTML = "<button onclick='this.textContent = 1'>Save</button>"; }, 150);</script>`);
    expect((await session.done({ type: "click", role: "button", name: "draft" })).element).toMatchObject({
      name: "Save draft",
    });
    await session.done({ type: "wait_for", text: "Save" });
    await session.done({ type: "wait_for", selector: "#place button" });
    expect((await session.done({ type: "click", role: "button", name: "save" })).element).toMatchObject({ name: "1" });
    const refused = await session.act({ type: "click", role: "button", name: "Send", timeout_ms: 100 });
    expect(refused).toMatchObject({ status: 404, code: "element_not_found" });
    expect(refused.message).toContain('The page has no button "Send"');
  });

  it("keep their references when the page renders again", async () => {
    await session.show(`<div id=place></div><script>
      let count = 0; const render = () => { place.innerHTML = "<button>Add</button><p>" + count + "</p>"; place.firstChild.onclick = () => { count++; render(); }; }; render();</script>`);
    const { observation } = await session.done({ type: "hover", role: "button", name: "Add", observe: {} });
    const ref = /button "Add" \[(e\d+)\]/.exec(observation?.outline ?? "")?.[1] ?? "";
    for (let round = 0; round < 3; round++) await session.done({ type: "click", ref });
    expect(await session.evaluate("count")).toBe(3);
    await session.evaluate("place.remove()");
    expect(await session.act({ type: "click", ref })).toMatchObject({ status: 409, code: "stale_reference" });
    expect(await session.act({ type: "click", ref: "e999999" })).toMatchObject({
      status: 409,
      code: "stale_reference",
    });
  });

  const card = "<div><h3>NAME</h3><p>5 EUR</p><button>Add</button></div>";
  const flat = "<h3>NAME</h3><p>5 EUR</p><button>Add</button>";
  it.each([
    ["rows, in another order", "<div><b>NAME</b> <button>Add</button></div>", "names.reverse()"],
    ["cards, in another order", card, "names.reverse()"],
    ["cards, with a new one", card, "names.unshift('New')"],
    ["cards without the middle one", card, "names.splice(1, 1)"],
    ["cards without all others", card, "names.splice(1, 2)"],
    ["a flat list, in another order", flat, "names.reverse()"],
    ["a flat list without the middle one", flat, "names.splice(1, 1)"],
    ["titles below them", "<div><p><button>Add</button></p><h3>NAME</h3></div>", "names.reverse()"],
    ["pictures", "<div><img src='data:,NAME'> 5 EUR <button>Add</button></div>", "names.splice(0, 1, 'Jo')"],
  ])("never go to another row of equal elements: %s", async (_title, row, change) => {
    await session.show(`<button id=again onclick="${change}; render()">Again</button><div id=place></div><script>
      const names = ["Ann", "Bob", "Cy"], row = ${JSON.stringify(row)};
      const render = () => { place.innerHTML = names.map((name) => row.replaceAll("NAME", name)).join(""); }; render();</script>`);
    const { observation } = await session.done({ type: "hover", selector: "#again", observe: {} });
    const refs = [...(observation?.outline ?? "").matchAll(/button "Add" \[(e\d+)\]/g)].map(([, ref]) => ref ?? "");
    expect(refs).toHaveLength(3);
    await session.done({ type: "click", selector: "#again" });
    for (let round = 0; round < 2; round++) {
      for (const ref of refs)
        expect(await session.act({ type: "click", ref })).toMatchObject({ status: 409, code: "stale_reference" });
      // Also after an outline gave references to the new elements.
      await session.done({ type: "hover", selector: "#again", observe: {} });
    }
  });

  it("do not go from a removed row to a new one", async () => {
    await session.show(`<button id=again onclick="place.children[1].remove(); place.append(rowOf('Cy'))">Again</button><div id=place></div><script>
      const rowOf = (name) => { const row = document.createElement("div"); row.innerHTML = "<b>" + name + "</b> <button>Add</button>"; return row; };
      place.append(rowOf("Ann"), rowOf("Bob"));</script>`);
    const { observation } = await session.done({ type: "hover", selector: "#again", observe: {} });
    const [, , ref = ""] = /button "Add" \[(e\d+)\][^]*button "Add" \[(e\d+)\]/.exec(observation?.outline ?? "") ?? [];
    const after = await session.done({ type: "click", selector: "#again", observe: {} });
    expect(after.observation?.outline).not.toContain(`[${ref}]`);
    expect(await session.act({ type: "click", ref })).toMatchObject({ status: 409, code: "stale_reference" });
  });

  it("are found in shadow roots and frames, also of other sites", async () => {
    session.page(
      "/inner",
      `<body style="margin:0"><div style="height:700px"></div><button id=in onclick="this.textContent = 'Clicked'">In</button><input id=field>`,
    );
    await session.show(`<div id=host></div><script>host.attachShadow({ mode: "open" }).innerHTML = "<slot></slot><button id=deep onclick='this.textContent = 1'>Deep</button>"</script>
      <div style="height:1200px"></div>
      <iframe src="${session.url("/inner", "localhost")}" style="border:7px solid;padding:5px;transform:scale(0.8)" width=400 height=300></iframe>`);
    expect((await session.done({ type: "click", selector: "#deep" })).element).toMatchObject({ name: "1" });
    expect((await session.done({ type: "click", selector: "#in" })).element).toMatchObject({ name: "Clicked" });
    const filled = await session.done({ type: "fill", selector: "#field", text: "herring" });
    expect(filled.element).toMatchObject({ value: "herring" });
    await session.done({ type: "press", selector: "#field", keys: ["Control+A", "Delete", "a", "Shift+b"] });
    expect((await session.done({ type: "hover", selector: "#field" })).element).toMatchObject({ value: "aB" });
    await session.show(`<iframe srcdoc="<button id=in onclick='this.textContent = 2'>In</button>"></iframe>`);
    expect((await session.done({ type: "click", selector: "#in" })).element).toMatchObject({ name: "2" });
  });
});

describe("fill", () => {
  it.each([
    ["<input id=f value=old>", "new", "new"],
    ["<input id=f type=search value=old>", "", ""],
    ["<textarea id=f>old</textarea>", "two\nlines", "two\nlines"],
    ["<label id=f>Name <input></label>", "by label", "by label"],
    ["<div id=f role=textbox contenteditable>old <b>text</b></div>", "fresh", "fresh"],
    ["<input id=f type=date>", "2026-02-28", "2026-02-28"],
    ["<input id=f type=time>", "14:30", "14:30"],
    ["<input id=f type=color>", "#FF8800", "#ff8800"],
    ["<input id=f type=range min=0 max=10>", "7", "7"],
    ["<input id=f type=number>", "12.5", "12.5"],
    ["<input id=f maxlength=3>", "abcdef", "abc"],
  ])("sets %s to %j with events", async (html, text, value) => {
    await session.show(
      `${html}<script>seen = []; addEventListener("input", (event) => seen.push(event.isTrusted));</script>`,
    );
    const { element } = await session.done({ type: "fill", selector: "#f", text });
    expect(element).toMatchObject({ value });
    expect(await session.evaluate("seen.length > 0")).toBe(true);
  });

  const slider = (keys: string, step: number, more = ""): string =>
    `<div id=f role=slider tabindex=0 aria-label=Volume aria-valuemin=0 aria-valuemax=1000 aria-valuenow=30 ${more}>x</div><script>
      f.onkeydown = ({ key }) => { const way = { ${keys} }[key]; if (way) setTimeout(() => { f.ariaValueNow = Math.max(0, Math.min(1000, Number(f.ariaValueNow) + way * ${String(step)})); }, f.dataset.ms ?? 0); };</script>`;
  it.each([
    ["all arrow keys", slider("ArrowUp: 1, ArrowRight: 1, ArrowDown: -1, ArrowLeft: -1", 1), "187"],
    ["a larger step, downwards", slider("ArrowUp: 1, ArrowDown: -1", 5), "0"],
    ["two keys", slider("ArrowRight: 1, ArrowLeft: -1", 10), "530"],
    ["a late value", slider("ArrowUp: 1, ArrowDown: -1", 1, "data-ms=80"), "33"],
    ["a splitter", slider("ArrowRight: 1, ArrowLeft: -1", 2).replace("role=slider", "role=separator"), "50"],
    [
      "a frame next to it",
      `${slider("ArrowUp: 1, ArrowDown: -1", 1)}<iframe srcdoc="<input autofocus>"></iframe>`,
      "35",
    ],
  ])("moves a drawn slider with %s", async (_title, html, text) => {
    await session.show(html);
    await session.done({ type: "fill", selector: "#f", text });
    expect(await session.evaluate("f.ariaValueNow")).toBe(text);
  });

  it.each([
    [
      "a value between two steps",
      slider("ArrowUp: 1, ArrowDown: -1", 10),
      "45",
      [400, "the number is between two steps"],
    ],
    ["a value out of the range", slider("ArrowUp: 1, ArrowDown: -1", 1), "1001", [400, "a number from 0 to 1000"]],
    ["a text", slider("ArrowUp: 1, ArrowDown: -1", 1), "loud", [400, "a number from 0 to 1000"]],
    ["a slider without keys", slider("", 1), "45", [409, "does not react to arrow keys"]],
  ] as const)("refuses %s", async (_title, html, text, [status, message]) => {
    await session.show(html);
    const answer = await session.act({ type: "fill", selector: "#f", text });
    expect(answer).toMatchObject({ status, message: expect.stringContaining(message) as string });
  });

  it("keeps passwords out of the answer", async () => {
    await session.show(`<input id=f type=password>`);
    const answer = await session.done({ type: "fill", selector: "#f", text: "hunter-2" });
    expect(answer.element).toMatchObject({ role: "textbox" });
    expect(JSON.stringify(answer)).not.toContain("hunter");
  });

  it("submits, and waits for the next page", async () => {
    session.page("/found", "<title>Found</title>");
    await session.show(`<form action=/found><input name=q></form>`);
    const answer = await session.done({ type: "fill", selector: "input", text: "herring", submit: true });
    expect(answer).toMatchObject({ navigated: true, status: 200, title: "Found", settled: true });
    expect(answer.url).toContain("?q=herring");
    expect(answer.element).toBeUndefined();
  });

  it("fills a field that the page replaces when it gets the focus", async () => {
    await session.show(`<div id=place></div><script>
      const render = () => { place.innerHTML = "<input id=f>"; f.addEventListener("focus", () => { if (!window.once) { window.once = 1; render(); } }); };
      render();</script>`);
    expect((await session.done({ type: "fill", selector: "#f", text: "late" })).element).toMatchObject({
      value: "late",
    });
  });

  it.each([
    ["<input id=f type=date>", "tomorrow", 400, "2026-01-31"],
    ["<input id=f type=number>", "many", 400, "not a number"],
    ["<input id=f readonly>", "x", 409, "is read-only"],
    ["<input id=f type=checkbox>", "x", 409, "is a checkbox"],
    ["<p id=f>text</p>", "x", 409, "is not a field"],
  ])("refuses %s with %j", async (html, text, status, message) => {
    await session.show(html);
    // Only this one waits for another state.
    const timeout_ms = message === "is read-only" ? 3_000 : 60_000;
    const refused = await session.act({ type: "fill", selector: "#f", text, timeout_ms });
    expect(refused.status).toBe(status);
    expect(refused.message).toContain(message);
  });
});

describe("check and select", () => {
  it("checks through labels, and leaves a checked box", async () => {
    await session.show(`<input type=checkbox id=c style="position:absolute;opacity:0;width:0;height:0"><label for=c>Agree</label>
      <div role=switch id=s aria-checked=false tabindex=0 onclick="this.ariaChecked = this.ariaChecked !== 'true'">Dark</div>
      <input type=radio name=r id=r1><input type=checkbox id=stuck onclick="event.preventDefault()">`);
    expect((await session.done({ type: "check", selector: "#c" })).element).toMatchObject({
      states: expect.arrayContaining(["checked"]) as unknown,
    });
    await session.done({ type: "check", selector: "#c" });
    expect(await session.evaluate("c.checked")).toBe(true);
    await session.done({ type: "check", selector: "label", accept: false });
    expect(await session.evaluate("c.checked")).toBe(false);
    expect((await session.done({ type: "check", selector: "#s" })).element?.states).toContain("checked");
    await session.done({ type: "check", selector: "#r1" });
    expect(await session.act({ type: "check", selector: "#r1", accept: false })).toMatchObject({
      field: "body.accept",
    });
    expect((await session.act({ type: "check", selector: "#stuck" })).message).toContain("stayed unchecked");
  });

  it("selects options by label or value, and names the options of a list without the wished one", async () => {
    await session.show(`<select id=one><option value=de>Germany<option value=fr>France</select>
      <select id=many multiple><option>Red<option>Green<option>Blue</select><div id=custom role=combobox>x</div>
      <script>seen = []; addEventListener("change", (event) => seen.push(event.target.id));</script>`);
    expect((await session.done({ type: "select", selector: "#one", values: ["France"] })).element?.value).toBe(
      "France",
    );
    expect((await session.done({ type: "select", selector: "#many", values: ["Blue", "Red"] })).element?.value).toBe(
      "Red, Blue",
    );
    expect(await session.evaluate("seen")).toEqual(["one", "many"]);
    const refused = await session.act({ type: "select", selector: "#one", values: ["Spain"], timeout_ms: 200 });
    expect(refused).toMatchObject({ status: 400, field: "body.values[0]" });
    expect(refused.message).toContain("Germany, France");
    expect((await session.act({ type: "select", selector: "#custom", values: ["x"] })).message).toContain(
      "is not a <select>",
    );
  });
});
