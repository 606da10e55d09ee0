import type { ActOnPage } from "@shoal/schemas";
import { eventuallyPasses } from "@shoal/testkit";
import type { ServerResponse } from "node:http";
import { expect, it } from "vitest";
import { findChromium } from "../../../testing/chromium.ts";
import { ActingSession } from "../testing/acting-session.ts";

const session = new ActingSession({ kind: "headless_shell", executable: findChromium("headless_shell") ?? "missing" });

/** Answers after the time in the query, in milliseconds. */
session.handle("/slow", (request, response) => {
  const waitMs = Number(new URL(request.url ?? "", "http://site").searchParams.get("ms"));
  const timer = setTimeout(() => response.end("{}"), waitMs);
  response.on("close", () => {
    clearTimeout(timer);
  });
});
/** An answer that never ends. */
session.handle("/endless", (_request, response) => {
  response.writeHead(200, { "content-type": "text/plain" });
  const timer = setInterval(() => response.write("x"), 50);
  response.on("close", () => {
    clearInterval(timer);
  });
});

const button = `<button id=b onclick="this.textContent = ++count">Go</button>`;
const loop = (url: string, pauseMs = 0, name = "loop") =>
  `(async function ${name}() { for (let turn = 0; ; turn++) { await fetch(${url}).catch(() => undefined); await new Promise((done) => setTimeout(done, ${String(pauseMs)})); } })();`;

it.each([
  ["a long poll", loop('"/slow?ms=1500"')],
  ["a poll with a new number each time", loop('"/slow?ms=700&since=" + Date.now()')],
  ["a poll with pauses", loop('"/slow?ms=300"', 400)],
  ["several polls", [500, 900, 1300].map((ms) => loop(`"/slow?ms=${String(ms)}"`, 100, `loop${String(ms)}`)).join("")],
  ["a stream that was open before", `fetch("/endless");`],
  ["an answer that is still to come", `fetch("/slow?ms=60000");`],
  ["a clock", `setInterval(() => { document.title = Date.now(); }, 100);`],
  [
    "a text that changes in each frame",
    `const p = document.body.appendChild(document.createElement("p")); (function tick() { p.textContent = performance.now(); requestAnimationFrame(tick); })();`,
  ],
])("returns soon although the page has %s", async (_title, script) => {
  await session.show(`${button}<script>let count = 0; ${script}</script>`);
  for (let round = 1; round <= 3; round++) {
    const { element, settled } = await session.done({ type: "click", selector: "#b" });
    // Not settled at its limit of time, which a wait for these requests would reach.
    expect([element?.name, settled]).toEqual([String(round), true]);
    await session.done({ type: "wait_for", selector: "#b" });
  }
});

it.each([
  ["a request of the click", `await fetch("/slow?ms=1200")`],
  ["the same request as the page's poll", `await fetch("/slow?ms=300")`],
  ["requests after each other", `await fetch("/slow?ms=400&a"); await fetch("/slow?ms=400&b")`],
  [
    "a request with XMLHttpRequest",
    `await new Promise((done) => { const x = new XMLHttpRequest(); x.onload = done; x.open("GET", "/slow?ms=900&x"); x.send(); })`,
  ],
])("awaits %s, also in a page that polls", async (_title, request) => {
  await session.show(`<button id=b onclick="go(this)">Go</button><script>${loop('"/slow?ms=300"', 200)}
    async function go(b) { b.textContent = "Waits"; ${request}; b.textContent = "Done"; }</script>`);
  const { element } = await session.done({ type: "click", selector: "#b" });
  expect(element?.name).toBe("Done");
});

it.each<[ActOnPage]>([[{ type: "click" }], [{ type: "press", keys: ["a"] }]])(
  "awaits what a timer brings after the change at once of %j, also again",
  async (act) => {
    await session.show(`<button id=b>Go</button><script>
    const next = async () => { await fetch("/slow?ms=300"); b.textContent = "Done"; };
    b.onclick = b.onkeydown = () => { b.textContent = "Waits"; setTimeout(next, 20); };</script>`);
    for (let round = 0; round < 2; round++)
      expect((await session.done({ ...act, selector: "#b" })).element?.name).toBe("Done");
  },
);

/** How a page does something later, without a request. */
const later = [
  ["a task", (work: string) => `Promise.resolve().then(() => { ${work} })`],
  ["a posted message", (work: string) => `post(() => { ${work} })`],
  ["messages after each other", (work: string) => `post(() => post(() => { ${work} }))`],
  ["a timer", (work: string) => `setTimeout(() => { ${work} })`],
  ["a frame", (work: string) => `requestAnimationFrame(() => { ${work} })`],
] as const;
const post = `const post = (work) => { const { port1, port2 } = new MessageChannel(); port1.onmessage = work; port2.postMessage(0); };`;

it.each(later)("answers with what a click changes in %s", async (_title, does) => {
  await session.show(`<button id=b>Go</button><script>${post}
    b.onclick = () => { b.textContent = "Waits"; ${does('b.textContent = "Done"')}; };</script>`);
  expect((await session.done({ type: "click", selector: "#b" })).element?.name).toBe("Done");
});

it.each<[string, string, ActOnPage]>([
  ["a typed text", "<input id=f>", { type: "fill", text: "lon" }],
  ["a key", "<input id=f>", { type: "press", keys: ["l"] }],
  ["a text of several lines", "<textarea id=f></textarea>", { type: "fill", text: "lon" }],
])("answers with what a plain field shows some time after %s, also again", async (_title, field, act) => {
  await session.show(`${field}<p id=p></p><script>let timer, count = 0;
    f.oninput = () => { clearTimeout(timer); timer = setTimeout(() => { p.textContent = "Found " + ++count; }, 300); };</script>`);
  for (const round of ["1", "2"]) {
    const { observation } = await session.done({ ...act, selector: "#f", observe: { diff: round === "2" } });
    expect(observation?.outline).toContain(`Found ${round}`);
  }
});

it.each(later)("refuses a value that the page takes back in %s", async (_title, does) => {
  await session.show(
    `<input id=f value=old><script>${post} f.oninput = () => { ${does('f.value = "old"')}; };</script>`,
  );
  const refused = await session.act({ type: "fill", selector: "#f", text: "new" });
  expect(refused).toMatchObject({ status: 409, code: "not_actionable" });
  expect(await session.evaluate("f.value")).toBe("old");
});

it.each<[string, string, ActOnPage]>([
  ["select", `<select id=c><option>a<option>b</select>`, { type: "select", values: ["b"] }],
  ["check", `<input type=checkbox id=c>`, { type: "check" }],
  ["click", `<button id=c>Go</button>`, { type: "click" }],
])("waits for what a timer of a %s brings", async (kind, html, act) => {
  await session.show(`${html}<p id=o></p><script>c.on${kind === "click" ? "click" : "change"} = () => setTimeout(async () => {
    await fetch("/slow?ms=300"); o.textContent = "Found"; }, 300);</script>`);
  const { observation } = await session.done({ ...act, selector: "#c", observe: {} });
  expect(observation?.outline).toContain("Found");
});

it("waits for a part with controls that a script moves, each time", async () => {
  await session.show(`<nav id=n style="position:relative"><a href="#x">Home</a></nav><button id=b aria-expanded=false>Open</button><div id=d style="height:0;overflow:hidden"><p><button>First</button></p><p><button>Last</button></p></div><script>
    const turn = () => { n.style.left = performance.now() % 9 + "px"; requestAnimationFrame(turn); }; turn();
    b.onclick = () => {
      const isOpen = d.style.height !== "0px", start = performance.now();
      const step = () => {
        const done = Math.min(1, (performance.now() - start) / 300);
        d.style.height = (isOpen ? 1 - done : done) * 100 + "px";
        if (done < 1) requestAnimationFrame(step);
      };
      step();
    };</script>`);
  for (const expected of [["First", "Last"], [], ["First", "Last"]]) {
    const answer = await session.done({ type: "click", selector: "#b", observe: {} });
    expect(answer.settled).toBe(true);
    expect([...(answer.observation?.outline.matchAll(/First|Last/g) ?? [])].map(([name]) => name)).toEqual(expected);
  }
});

it("reports what an observer of sizes adds to the page", async () => {
  await session.show(`<div id=d><button id=b onclick="d.style.height = '300px'">Open</button></div><p id=p></p><script>
    let isFirst = true;
    new ResizeObserver(() => { if (!isFirst) p.textContent = "Opened"; isFirst = false; }).observe(d);</script>`);
  const { observation } = await session.done({ type: "click", selector: "#b", observe: {} });
  expect(observation?.outline).toContain("Opened");
});

it("returns from a click that opens a stream once its answer has begun", async () => {
  await session.show(`<button id=b onclick="fetch('/endless').then(() => { this.textContent = 'Open'; })">Go</button>`);
  const startMs = performance.now();
  expect((await session.done({ type: "click", selector: "#b" })).element?.name).toBe("Open");
  expect(performance.now() - startMs).toBeLessThan(3_500);
});

it.each([
  ["fades out", "s.style.opacity = 0"],
  ["moves away", "s.style.transform = 'translateX(-300px)'"],
  ["closes", "s.style.height = 0"],
])("answers when a part with controls that %s has left", async (_title, change) => {
  await session.show(`<button id=b onclick="${change}; s.ontransitionend = () => s.remove()">Next</button>
    <div id=s style="transition:all 350ms;overflow:hidden;height:40px"><button>Old</button></div>`);
  const { observation } = await session.done({ type: "click", selector: "#b", observe: {} });
  expect(observation?.outline).not.toContain("Old");
});

it.each([
  ["never ends", "1s infinite"],
  ["takes long", "30s"],
])("does not wait for an animation that %s", async (_title, timing) => {
  await session.show(`<style>@keyframes k { to { transform: rotate(1turn) } }</style>${button}<script>let count = 0</script>
    <div style="width:20px;height:20px;animation:k ${timing}"><button>x</button></div>`);
  const startMs = performance.now();
  expect((await session.done({ type: "click", selector: "#b" })).settled).toBe(true);
  expect(performance.now() - startMs).toBeLessThan(1_900);
});

it.each<[string, string, string, ActOnPage]>([
  ["a menu on hover", "<button id=b>Menu</button>", "onmouseenter", { type: "hover" }],
  ["suggestions of a field", "<input id=b role=combobox aria-label=City>", "oninput", { type: "fill", text: "Os" }],
  ["results of a search", "<input id=b type=search aria-label=Find>", "onkeyup", { type: "press", keys: ["a"] }],
])("waits for %s, which come late", async (_title, html, event, act) => {
  await session.show(`${html}<div id=list hidden><button>Oslo</button></div><script>
    b.${event} = () => setTimeout(async () => { await fetch("/slow?ms=100"); list.hidden = false; }, 300);</script>`);
  expect((await session.done({ ...act, selector: "#b", observe: {} })).observation?.outline).toContain("Oslo");
});

it("waits for what a busy page requests after a hover, also again", async () => {
  await session.show(`<button id=b hidden style="margin:100px">Menu</button><div id=list hidden><button>Oslo</button></div><script>${post}
    const ask = () => fetch("/slow?ms=1000");
    const busy = (ms) => { const end = performance.now() + ms; while (performance.now() < end); };
    ask().then(() => { b.onmouseenter = () => post(async () => { busy(300); await ask(); list.hidden = false; }); b.hidden = false; });</script>`);
  const { observation } = await session.done({ type: "hover", selector: "#b", observe: {} });
  expect(observation?.outline).toContain("Oslo");
});

it("leaves clicks to the page after an action that did not end in it", async () => {
  const held: ServerResponse[] = [];
  let isOver = false;
  session.handle("/held", (_request, response) => {
    if (isOver) response.end("{}");
    else held.push(response);
  });
  await session.show(`<button id=b>Go</button><button id=other onclick="document.title = 'clicked'">Other</button><script>
    const hold = () => { const asked = new XMLHttpRequest(); asked.open("GET", "/held", false); asked.send(); };
    b.onmousemove = () => { b.onmousemove = null; requestAnimationFrame(() => setTimeout(hold)); };</script>`);
  await session.act({ type: "click", selector: "#b", timeout_ms: 1_000 });
  isOver = true;
  for (const response of held) response.end("{}");
  await eventuallyPasses(async () => {
    await session.instance.call(
      "POST",
      "/playwright/execute",
      JSON.stringify({
        code: `await page.mouse.click(...await page.evaluate("(({ x, y }) => [x + 5, y + 5])(other.getBoundingClientRect())"))`,
      }),
    );
    expect(await session.evaluate("document.title")).toBe("clicked");
  });
});

it("settles in a still page within a short limit, also after a hover", async () => {
  await session.show("<button id=b>Menu</button>");
  expect((await session.done({ type: "hover", selector: "#b", timeout_ms: 400 })).settled).toBe(true);
});

it("returns at once when a page that asks is not left", async () => {
  await session.show(
    `<input id=f><a href=/gone>Leave</a><script>onbeforeunload = (event) => event.preventDefault();</script>`,
  );
  await session.done({ type: "fill", selector: "#f", text: "x" });
  expect((await session.done({ type: "click", selector: "a" })).dialog).toMatchObject({ type: "beforeunload" });
  const startMs = performance.now();
  expect(await session.done({ type: "answer_dialog", accept: false })).toMatchObject({
    settled: true,
    navigated: false,
  });
  expect(performance.now() - startMs).toBeLessThan(1_500);
});
