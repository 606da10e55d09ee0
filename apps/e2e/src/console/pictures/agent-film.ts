import type { Shoal } from "@shoal/client";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { type Shop, shopUrl } from "./shop.ts";

interface Stage {
  readonly shoal: Shoal;
  readonly apiKey: string;
  readonly baseUrl: string;
  readonly person: Browser;
  readonly shop: Shop;
}

/** A call of the agent. `at` is the name of an element in the last outline. */
interface Act {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly at?: string;
}

const task = "Order two oak chairs for Ada, as a gift.";
const acts: readonly Act[] = [
  { tool: "navigate", given: { url: `${shopUrl}/chairs` } },
  { tool: "select", given: { values: ["2"] }, at: "Chairs" },
  { tool: "fill", given: { text: "Ada Lovelace" }, at: "Deliver to" },
  { tool: "check", given: {}, at: "Wrap as a gift" },
  { tool: "click", given: {}, at: "Order now" },
];
const end = "Ordered: order 1046 arrives on Friday.";

const framesPerSecond = 10;
const shownLines = 6;
const lineWidth = 52;

/**
 * Writes a film of an agent at work: its calls and the answers over MCP, next to the page of the session. The calls are
 * the same at each recording, everything else is as it happens.
 */
export async function takeAgentFilm(stage: Stage, path: string): Promise<void> {
  const { apiKey, baseUrl, person, shoal, shop } = stage;
  const folder = mkdtempSync(join(tmpdir(), "shoal-film-"));
  const proxy = await shoal.proxies.create({ ...shop.proxy, name: "film" });
  await using session = await shoal.browsers.create({
    name: "agent",
    viewport: { width: 1000, height: 720 },
    ...(proxy.id !== undefined && { proxy_id: proxy.id }),
  });
  const client = new Client({ name: "film", version: "1" });
  const connected = await chromium.connectOverCDP(session.cdp_ws_url);
  const screen = await person.newPage({ viewport: { width: 960, height: 450 } });
  try {
    await client.connect(
      new StreamableHTTPClientTransport(new URL(`${baseUrl}/mcp?session=${session.session_id}`), {
        requestInit: { headers: { authorization: `Bearer ${apiKey}` } },
      }),
    );
    await screen.setContent(html);
    const film = new Film(screen, folder);
    await play({ client, film, page: () => connected.contexts()[0]?.pages().at(-1) });
    film.write(path);
  } finally {
    await Promise.all([client.close(), connected.close(), screen.close()]);
    await shoal.proxies.delete(proxy.id ?? "");
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Parts {
  readonly client: Client;
  readonly film: Film;
  readonly page: () => Page | undefined;
}

async function play({ client, film, page }: Parts): Promise<void> {
  const look = async () => (await page()?.screenshot({ type: "png" }))?.toString("base64") ?? "";
  await film.type(`> ${task}`, "task");
  await film.hold(6);
  let outline = "";
  for (const { at, given, tool } of acts) {
    const ref = at === undefined ? undefined : refOf(outline, at);
    const call = { ...(ref !== undefined && { ref }), ...given };
    await film.type(`${tool} ${shown(call)}`, "call");
    if (at !== undefined) await film.point(await centerOf(page(), at));
    const answer = textOf(await client.callTool({ name: tool, arguments: call }));
    if (answer.includes("[e")) outline += `\n${answer}`;
    await film.show(await look());
    await film.print(answer);
    await film.hold(7);
  }
  await film.type(end, "task");
  await film.hold(25);
}

const shown = (call: object): string =>
  Object.entries(call)
    .map(([name, value]) => (name === "url" ? String(value) : `${name}=${JSON.stringify(value)}`))
    .join(" ");

function textOf({ content }: Awaited<ReturnType<Client["callTool"]>>): string {
  return content.flatMap((part) => (part.type === "text" ? [part.text] : [])).join("\n");
}

/** As a model reads it. */
function refOf(outline: string, name: string): string {
  const line = outline.split("\n").find((text) => text.includes(`"${name}"`));
  const ref = /\[(e\d+)/.exec(line ?? "")?.[1];
  if (ref === undefined) throw new Error(`No element "${name}" in:\n${outline}`);
  return ref;
}

async function centerOf(page: Page | undefined, name: string): Promise<readonly [number, number]> {
  const box = await page?.getByLabel(name).or(page.getByRole("button", { name })).first().boundingBox();
  return box == null ? [500, 360] : [box.x + Math.min(box.width / 2, 120), box.y + box.height / 2];
}

/** The first lines, new lines, and lines with references. */
function shortened(lines: readonly string[]): readonly string[] {
  if (lines.length <= shownLines) return lines;
  const rest = lines.slice(2);
  const chosen = rest.filter((line) => line.startsWith("+") || line.includes("[e")).slice(0, shownLines - 2);
  return [...lines.slice(0, 2), ...(chosen.length > 0 ? chosen : rest.slice(0, shownLines - 2)), "…"];
}

/** One picture a frame. */
class Film {
  readonly #screen: Page;
  readonly #folder: string;
  #frames = 0;
  #pointer: readonly [number, number] = [860, 640];

  constructor(screen: Page, folder: string) {
    this.#screen = screen;
    this.#folder = folder;
  }

  async hold(frames: number): Promise<void> {
    const picture = await this.#screen.screenshot();
    for (let count = 0; count < frames; count += 1) this.#add(picture);
  }

  async type(text: string, kind: "call" | "task"): Promise<void> {
    await this.#screen.evaluate((name) => {
      const line = document.createElement("p");
      line.className = name;
      document.querySelector("#lines")?.append(line);
    }, kind);
    const step = Math.ceil(text.length / 8);
    for (let length = step; length < text.length + step; length += step) {
      await this.#setLast(text.slice(0, length));
      await this.hold(1);
    }
  }

  async print(answer: string): Promise<void> {
    const shownOf = shortened(answer.split("\n").filter((line) => line.trim() !== ""));
    const text = shownOf.map((line) => (line.length > lineWidth ? `${line.slice(0, lineWidth)}…` : line)).join("\n");
    await this.#screen.evaluate((answered) => {
      const line = document.createElement("p");
      line.textContent = answered;
      document.querySelector("#lines")?.append(line);
      line.scrollIntoView();
    }, text);
  }

  async point(target: readonly [number, number]): Promise<void> {
    const [fromX, fromY] = this.#pointer;
    const steps = 5;
    for (let step = 1; step <= steps; step += 1) {
      const part = step / steps;
      await this.#screen.evaluate(
        ([x, y]) => {
          const pointer = document.querySelector<HTMLElement>("#pointer");
          if (pointer !== null)
            Object.assign(pointer.style, { left: `${String(x)}%`, top: `${String(y)}%`, opacity: "1" });
        },
        [(fromX + (target[0] - fromX) * part) / 10, (fromY + (target[1] - fromY) * part) / 7.2] as const,
      );
      await this.hold(1);
    }
    this.#pointer = target;
  }

  async show(picture: string): Promise<void> {
    await this.#screen.evaluate(async (data) => {
      const image = document.querySelector<HTMLImageElement>("#page");
      if (image === null) return;
      image.src = `data:image/png;base64,${data}`;
      await image.decode();
    }, picture);
  }

  /** Lossless WebP: half the size of a GIF. Pictures without a change take hardly any space. */
  write(path: string): void {
    const frames = ["-framerate", String(framesPerSecond), "-i", join(this.#folder, "%05d.png")];
    const format = ["-c:v", "libwebp_anim", "-lossless", "1", "-loop", "0"];
    execFileSync("ffmpeg", ["-v", "error", "-y", ...frames, ...format, path], { stdio: "inherit" });
  }

  async #setLast(text: string): Promise<void> {
    await this.#screen.evaluate((shownText) => {
      const line = document.querySelector("#lines")?.lastElementChild;
      if (line == null) return;
      line.textContent = shownText;
      line.scrollIntoView();
    }, text);
  }

  #add(picture: Buffer): void {
    writeFileSync(join(this.#folder, `${String(this.#frames).padStart(5, "0")}.png`), picture);
    this.#frames += 1;
  }
}

const html = `<!doctype html><style>
*{box-sizing:border-box}body{margin:0;height:450px;display:grid;grid-template-columns:400px 1fr;gap:20px;padding:20px;background:#0d1b24;color:#dbe6ec;font:12px/1.5 ui-monospace,"DejaVu Sans Mono",monospace}
h2{font:600 13px system-ui,"DejaVu Sans",sans-serif;color:#8fb3c4;margin:0 0 10px}section{overflow:hidden;display:flex;flex-direction:column}#lines{overflow:hidden;flex:1}
p{margin:0 0 8px;white-space:pre-wrap;overflow-wrap:anywhere;color:#8ea3af}p.task{color:#fff;font-weight:600}p.call{color:#5fd3b3;margin-bottom:2px}p.call::before{content:"● "}
#view{position:relative;background:#fff;border-radius:10px;overflow:hidden;aspect-ratio:1000/720;width:100%}#page{width:100%;display:block}#page:not([src]){visibility:hidden}
#pointer{position:absolute;left:86%;top:88%;opacity:0;width:22px;height:22px;margin:-11px;border-radius:50%;background:#0c8f6c55;border:2px solid #0c8f6c}</style>
<section><h2>An agent, over MCP</h2><div id="lines"></div></section>
<section><h2>Its browser, in Shoal</h2><div id="view"><img id="page" alt=""><div id="pointer"></div></div></section>`;
