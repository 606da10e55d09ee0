import { describe, expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** A frame that takes the focus again and again, and reports to the page what it receives. */
const thiefOf = (how: string): string => `<body><input id=i><input id=j><script>
  const take = () => { window.focus(); j.focus(); i.focus(); };
  const tell = (text) => parent.postMessage(text, "*");
  for (const type of ["keydown", "paste", "beforeinput", "mousedown", "click"]) addEventListener(type, (event) => tell(type), true);
  addEventListener("input", (event) => tell("got " + event.target.value), true);
  ${how}</script>`;

const thieves: Readonly<Record<string, string>> = {
  channel: thiefOf(
    `const { port1, port2 } = new MessageChannel(); port1.onmessage = () => { take(); port2.postMessage(0); }; port2.postMessage(0);`,
  ),
  "timer of 7 ms": thiefOf(`setInterval(take, 7);`),
  "timer of a worker": thiefOf(
    `new Worker(URL.createObjectURL(new Blob(["setInterval(() => postMessage(0), 1)"]))).onmessage = take;`,
  ),
  "blur listener": thiefOf(
    `take(); addEventListener("blur", take, true); addEventListener("blur", () => setTimeout(take));`,
  ),
};

const form = `<input id=text value=old><textarea id=area>old</textarea><input id=secret type=password>
  <div id=rich contenteditable>old</div><input id=day type=date><select id=list><option>One<option>Two</select>
  <span id=code>${`<input maxlength=1 size=1>`.repeat(4)}</span>
  <script>
    const events = []; const received = [];
    onmessage = ({ data }) => received.push(data);
    for (const type of ["beforeinput", "input"]) addEventListener(type, () => events.push(type), true);
    code.oninput = ({ target }) => target.value && target.nextElementSibling?.focus();
  </script>`;

const frames: Readonly<Record<string, (how: string) => string>> = {
  "another site": (how) => `<iframe src="${session.url(`/thief-${how}`, "localhost")}"></iframe>`,
  "the same site": (how) => `<iframe src="${session.url(`/thief-${how}`)}"></iframe>`,
  "a sandboxed document": (how) =>
    `<iframe sandbox=allow-scripts srcdoc="${(thieves[how] ?? "").replaceAll("&", "&amp;").replaceAll('"', "&quot;")}"></iframe>`,
  "a closed shadow root": (how) =>
    `<p id=host></p><script>host.attachShadow({ mode: "closed" }).innerHTML = '<iframe src="${session.url(`/thief-${how}`, "localhost")}"></iframe>'</script>`,
};

describe("a frame that takes the focus", () => {
  const cases = Object.keys(frames).flatMap((where) => Object.keys(thieves).map((how) => [how, where] as const));
  it.each(cases)("receives no value: %s, of %s", async (how, where) => {
    session.page(`/thief-${how}`, thieves[how] ?? "");
    await session.show(`${form}${frames[where]?.(how) ?? ""}`);
    await session.done({ type: "wait_for", selector: "iframe, #host" });
    for (const [selector, text] of [
      ["#text", "Ada"],
      ["#area", "two\nlines"],
      ["#secret", "canary"],
      ["#rich", "rich text"],
      ["#day", "2026-01-31"],
      ["#code input", "1234"],
    ] as const) {
      const target = selector === "#code input" ? "#code input:first-child" : selector;
      await session.done({ type: "fill", selector: target, text });
    }
    await session.done({ type: "select", selector: "#list", values: ["Two"] });
    expect(
      await session.evaluate(
        `[text.value, area.value, secret.value, rich.innerText, day.value, list.value, [...code.children].map((one) => one.value).join("")]`,
      ),
    ).toEqual(["Ada", "two\nlines", "canary", "rich text", "2026-01-31", "Two", "1234"]);
    expect(await session.evaluate("events.includes('beforeinput') && events.includes('input')")).toBe(true);
    expect(await session.evaluate("received")).toEqual([]);
  });

  it.each(cases)("receives no keys that are for a field: %s, of %s", async (how, where) => {
    session.page(`/thief-${how}`, thieves[how] ?? "");
    await session.show(`${form}${frames[where]?.(how) ?? ""}`);
    await session.done({ type: "wait_for", selector: "iframe, #host" });
    const keys = Array.from("secret words", (key) => (key === " " ? "space" : key));
    const answer = await session.act({ type: "press", selector: "#text", keys });
    if ((answer.code as string | undefined) === undefined)
      expect(await session.evaluate("text.value")).toMatch(/^(?:secret wordsold|oldsecret words)$/);
    else expect(answer.message).toContain("a frame of the page takes it");
    expect(await session.evaluate("received")).toEqual([]);
    expect(await session.evaluate("[...document.querySelectorAll('iframe')].some((one) => one.inert)")).toBe(false);
  });
});

describe("a frame over a control", () => {
  const button = `<button id=b style="position:absolute;left:100px;top:100px;width:120px;height:40px" onclick="clicks++">Buy</button>
    <script>let clicks = 0; const received = []; onmessage = ({ data }) => received.push(data);</script>`;
  const over = `position:absolute;left:80px;top:80px;width:200px;height:100px;border:0;opacity:.01`;
  const addAndRemove = (src: string): string =>
    `<script>const add = () => { const frame = document.createElement("iframe"); frame.style = "${over}"; frame.${src}; document.body.append(frame); setTimeout(() => { frame.remove(); setTimeout(add, 15); }, 25); }; add();</script>`;

  async function tryClick(): Promise<number> {
    const { code } = await session.act({ type: "click", selector: "#b", timeout_ms: 1500 });
    return (code as string | undefined) === undefined ? 1 : 0;
  }

  const movements: Readonly<Record<string, string>> = {
    "blinks every 7 ms": `setInterval(() => { f.style.display = f.style.display === "none" ? "" : "none"; }, 7);`,
    "blinks every 30 ms": `setInterval(() => { f.style.visibility = f.style.visibility === "hidden" ? "" : "hidden"; }, 30);`,
    "moves over it": `let x = 0; setInterval(() => { x = (x + 37) % 400; f.style.left = x - 100 + "px"; }, 10);`,
    "lets the pointer through at times": `setInterval(() => { f.style.pointerEvents = f.style.pointerEvents === "none" ? "" : "none"; }, 15);`,
    "comes when the pointer arrives": `f.style.display = "none"; b.onpointermove = b.onmouseenter = () => { f.style.display = ""; setTimeout(() => { f.style.display = "none"; }, 60); };`,
  };
  it.each(
    Object.entries(movements).flatMap(([title, script]) =>
      ["localhost", "127.0.0.1"].map((host) => [title, host, script] as const),
    ),
  )("never receives a click: it %s, from %s", async (_title, host, script) => {
    session.page("/thief-over", thiefOf(""));
    await session.show(
      `${button}<iframe id=f src="${session.url("/thief-over", host)}" style="${over}"></iframe><script>${script}</script>`,
    );
    let clicked = 0;
    // On a busy machine, a try may end without a click.
    for (let round = 0; round < 8 || clicked === 0; round++) clicked += await tryClick();
    expect(await session.evaluate("received")).toEqual([]);
    expect(await session.evaluate("clicks")).toBe(clicked);
    expect(await session.evaluate("f.inert")).toBe(false);
  });

  it("never receives a click: the page adds and removes it", async () => {
    session.page("/thief-over", thiefOf(""));
    await session.show(
      `${button}${addAndRemove(`srcdoc = "<script>onmousedown = () => parent.postMessage(1, '*')<\\/script><p>x"`)}`,
    );
    let clicked = 0;
    for (let round = 0; round < 8; round++) clicked += await tryClick();
    expect(await session.evaluate("received")).toEqual([]);
    expect(await session.evaluate("clicks")).toBe(clicked);
  });

  it("is named when it stays over the control", async () => {
    session.page("/thief-over", thiefOf(""));
    await session.show(
      `${button}<iframe id=f src="${session.url("/thief-over", "localhost")}" style="${over}"></iframe>`,
    );
    const refused = await session.act({ type: "click", selector: "#b", timeout_ms: 300 });
    expect(refused.message).toContain("is covered by iframe#f");
    expect(await session.evaluate("received")).toEqual([]);
  });

  it("is clicked itself when it is the target, and controls inside of it", async () => {
    session.page(
      "/inner",
      `<body style="margin:0"><button id=in style="width:100%;height:90px" onclick="parent.postMessage('clicked', '*')">In</button>`,
    );
    await session.show(
      `${button}<iframe id=f src="${session.url("/inner", "localhost")}" style="width:200px;height:100px;margin-top:200px"></iframe>`,
    );
    await session.done({ type: "wait_for", selector: "#in" });
    await session.done({ type: "click", selector: "#f" });
    await session.done({ type: "click", selector: "#in" });
    expect(await session.evaluate("received")).toEqual(["clicked", "clicked"]);
  });
});
