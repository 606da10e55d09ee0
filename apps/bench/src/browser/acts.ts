import { startService } from "@shoal/cli/service";
import { type ActOnPage, Shoal } from "@shoal/client";
import { findChromium } from "@shoal/placement";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type Page } from "playwright-core";
import type { Figure } from "../measuring/figures.ts";
import { interleaved, pairedRatio } from "../measuring/rounds.ts";

const viewport = { width: 1280, height: 800 };

/** A form with handlers, and a list that is longer than the viewport. */
const site = `<!doctype html><title>acts</title><style>body{font:16px sans-serif}.card:hover{background:#eef}</style>
<h1>Order</h1><form onsubmit="return false">
<label>Name <input id=name></label> <label>Note <textarea id=note></textarea></label>
<label><input type=checkbox id=gift> As a gift</label>
<label>Size <select id=size><option>Small<option>Medium<option>Large</select></label>
<input type=file id=file> <button id=add type=button>Add</button> <output id=count>0</output></form>
<div id=card class=card>A card</div><div id=drop style="width:200px;height:40px;border:1px solid">Drop here</div>
<ul>${Array.from({ length: 200 }, (_, row) => `<li id=row${String(row)}><a href="#row${String(row)}">Row ${String(row)}</a>`).join("")}</ul>
<script>let count = 0; add.onclick = add.ondblclick = add.oncontextmenu = () => { document.getElementById("count").value = ++count; return false; };</script>`;

interface Kind {
  readonly name: string;
  readonly act: (round: number) => ActOnPage;
  readonly hand: (page: Page, round: number) => Promise<unknown>;
}

/** Both sides do the same, with the same waits for the element. Odd rounds undo even ones. */
function kindsOf(file: string): Kind[] {
  const parity = (round: number): boolean => round % 2 === 0;
  return [
    { name: "click", act: () => ({ type: "click", selector: "#add" }), hand: (page) => page.click("#add") },
    {
      name: "double click",
      act: () => ({ type: "click", selector: "#add", click_count: 2 }),
      hand: (page) => page.dblclick("#add"),
    },
    {
      name: "click by role and name",
      act: () => ({ type: "click", role: "button", name: "Add" }),
      hand: (page) => page.getByRole("button", { name: "Add" }).click(),
    },
    {
      name: "fill",
      act: (round) => ({ type: "fill", selector: "#name", text: `Name ${String(round)}` }),
      hand: (page, round) => page.fill("#name", `Name ${String(round)}`),
    },
    {
      name: "check",
      act: (round) => ({ type: "check", selector: "#gift", accept: parity(round) }),
      hand: (page, round) => page.setChecked("#gift", parity(round)),
    },
    {
      name: "select",
      act: (round) => ({ type: "select", selector: "#size", values: [parity(round) ? "Large" : "Medium"] }),
      hand: (page, round) => page.selectOption("#size", parity(round) ? "Large" : "Medium"),
    },
    {
      name: "press",
      act: () => ({ type: "press", selector: "#note", keys: ["a"] }),
      hand: (page) => page.press("#note", "a"),
    },
    {
      name: "hover",
      act: (round) => ({ type: "hover", selector: parity(round) ? "#card" : "#drop" }),
      hand: (page, round) => page.hover(parity(round) ? "#card" : "#drop"),
    },
    {
      name: "scroll",
      act: (round) => ({ type: "scroll", selector: parity(round) ? "#row190" : "#name" }),
      hand: (page, round) => page.locator(parity(round) ? "#row190" : "#name").scrollIntoViewIfNeeded(),
    },
    {
      name: "upload",
      act: () => ({ type: "upload", selector: "#file", paths: ["/tmp/order.txt"] }),
      hand: (page) => page.setInputFiles("#file", file),
    },
  ];
}

/** Actions and a picture by the API, against playwright-core in a Chromium that it started itself, on the same page. */
export async function measureActs(rounds: number): Promise<Figure[]> {
  const found = await findChromium({});
  if (!found) throw new Error("No Chromium on this machine.");
  const server = createServer((_request, response) => response.setHeader("content-type", "text/html").end(site));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `127.0.0.1:${String((server.address() as AddressInfo).port)}`;
  const folder = mkdtempSync(join(tmpdir(), "shoal-bench-"));
  const file = join(folder, "order.txt");
  writeFileSync(file, "An order");
  const flags = ["--warm", "0", "--log-level", "warn", "--allow-private-hosts", host];
  const service = await startService(join(folder, "data"), flags);
  const browser = await chromium.launch({
    executablePath: found.executable,
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  try {
    const shoal = new Shoal({ baseUrl: service.baseUrl, apiKey: service.apiKey });
    const page = await browser.newPage({ viewport });
    await page.goto(`http://${host}/`);
    const { session_id: id } = await shoal.browsers.create({ viewport, timeout_seconds: 3600 });
    await shoal.browsers.fs.writeFile(id, new Blob(["An order"]), { path: "/tmp/order.txt" });
    await shoal.browsers.act(id, { type: "navigate", url: `http://${host}/` });
    const figures: Figure[] = [];
    for (const { act, hand, name } of kindsOf(file)) {
      let [acted, done] = [0, 0];
      const costs = await interleaved(rounds, {
        ours: () => shoal.browsers.act(id, act(acted++)),
        hand: () => hand(page, done++),
      });
      figures.push({
        name: `${name}, p50`,
        unit: "ms",
        ours: costs.ours.wallMs,
        peer: costs.hand.wallMs,
        peerName: "playwright-core by hand",
        ratio: pairedRatio(costs.ours, costs.hand, "wallMs"),
        target: "<= 1",
      });
    }
    const cdp = await page.context().newCDPSession(page);
    const pictures = await interleaved(rounds, {
      ours: async () => new Response((await shoal.browsers.screenshot(id)).stream).arrayBuffer(),
      hand: async () => Buffer.from((await cdp.send("Page.captureScreenshot")).data, "base64"),
      fast: async () =>
        Buffer.from((await cdp.send("Page.captureScreenshot", { optimizeForSpeed: true })).data, "base64"),
    });
    for (const [peer, peerName] of [
      [pictures.hand, "Page.captureScreenshot by hand"],
      [pictures.fast, "the same, optimizeForSpeed"],
    ] as const)
      figures.push({
        name: "picture of the viewport, p50",
        unit: "ms",
        ours: pictures.ours.wallMs,
        peer: peer.wallMs,
        peerName,
        ratio: pairedRatio(pictures.ours, peer, "wallMs"),
        target: "<= 1.1",
      });
    return figures;
  } finally {
    await browser.close();
    await service.stop();
    server.closeAllConnections();
    server.close();
    rmSync(folder, { recursive: true, force: true });
  }
}
