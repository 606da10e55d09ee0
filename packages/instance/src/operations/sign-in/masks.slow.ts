import { eventuallyPasses } from "@shoal/testkit";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { OutlineNode, PageActResult, PageOutline } from "../../index.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";

/** Pages by kind of field. Each has one field, named `secret`; `show` reveals it. */
const pages: Readonly<Record<string, string>> = {
  "a code": `<input name=secret autocomplete=one-time-code>`,
  "a code in a field for numbers": `<input name=secret type=number>`,
  "a long answer": `<textarea name=secret></textarea>`,
  "a field whose style forbids dots": `<style>input { -webkit-text-security: none !important }</style>
    <input name=secret style="-webkit-text-security: none !important">`,
  "a password that a button shows": `<input id=pw name=secret type=password>
    <button id=show onclick="pw.type = 'text'">Show</button>`,
  "a password that a button copies into another field": `<input id=pw name=secret type=password>
    <input id=open style="display: none"><button id=show onclick="open.value = pw.value; pw.style.display = 'none'; open.style.display = ''">Show</button>
    <script>open = document.getElementById("open")</script>`,
  "a field that the page renders again": `<div id=place></div><script>
    const render = (value) => { place.innerHTML = "<input name=secret>"; place.firstChild.value = value; place.firstChild.oninput = (event) => render(event.target.value); };
    render("");</script>`,
  "a code that the page draws in boxes": `<input name=secret id=code style="color: transparent"><p id=boxes></p><script>
    code.oninput = () => { boxes.replaceChildren(...[...code.value].map((digit) => Object.assign(document.createElement("b"), { textContent: digit }))); };</script>`,
  "a code that the page repeats later": `<input name=secret id=code><p id=out></p><script>
    code.oninput = () => setTimeout(() => { out.textContent = "Checking " + code.value.slice(0, 3) + " " + code.value.slice(3); document.title = "later"; }, 50);</script>`,
  "an editable element": `<div contenteditable role=textbox aria-label=secret>x</div>`,
  "a closed shadow root": `<div id=host></div><script>host.attachShadow({ mode: "closed" }).innerHTML = "<input name=secret>"</script>`,
  "a frame": `<iframe srcdoc="<style>* { caret-color: transparent }</style><input name=secret>"></iframe>`,
};

let site: Server;
let port: number;
beforeAll(async () => {
  site = createServer((request, response) => {
    const page = pages[decodeURIComponent(request.url?.slice(1) ?? "")];
    if (page === undefined) response.writeHead(404).end();
    else
      response
        .setHeader("content-type", "text/html")
        .end(`<!doctype html><style>* { caret-color: transparent }</style>${page}`);
  });
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  ({ port } = site.address() as AddressInfo);
});
afterAll(() => {
  site.closeAllConnections();
  site.close();
});

describeChromium("pictures of the front page", (chromium) => {
  let instance: RunningInstance;
  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600, viewport: { width: 640, height: 480 } });
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function call<T>(path: string, body: object = {}): Promise<T> {
    const answer = await instance.call("POST", `/_instance/page/${path}`, JSON.stringify(body));
    if (answer.status >= 300) throw new Error(`${path}: ${String(answer.status)} ${answer.text}`);
    return JSON.parse(answer.text) as T;
  }
  const settle = () => call("settle", { quiet_ms: 150, timeout_ms: 8_000 });
  async function find(fits: (node: OutlineNode) => boolean): Promise<OutlineNode | undefined> {
    const { nodes } = await call<PageOutline>("outline");
    return nodes.find((node) => node.hidden === undefined && fits(node));
  }

  /** Types a value into the field of a page, and reveals it if the page can. */
  async function type(kind: string, value: string, visible = false): Promise<void> {
    const url = `http://127.0.0.1:${String(port)}/${encodeURIComponent(kind)}`;
    const hosts = ["127.0.0.1"];
    await call("act", { kind: "goto", url, hosts });
    await settle();
    const field = await find(({ attributes, name }) => attributes.name === "secret" || name === "secret");
    expect(await call<PageActResult>("act", { kind: "fill", ref: field?.ref, value, hosts, visible })).toEqual({
      outcome: "done",
    });
    const show = await find(({ attributes }) => attributes.id === "show");
    if (show !== undefined) await call("act", { kind: "click", ref: show.ref });
    await settle();
  }
  async function pictureWith(...typed: Parameters<typeof type>): Promise<string> {
    await type(...typed);
    const shot = await instance.call("POST", "/computer/screenshot", "{}");
    expect(shot.status).toBe(200);
    return shot.text;
  }

  it.each(Object.keys(pages))("show dots for %s", async (kind) => {
    const first = await pictureWith(kind, "135790");
    expect(await pictureWith(kind, "864213")).toBe(first);
  });

  it.each(["a long answer", "a field that the page renders again", "an editable element"])(
    "show a visible value in %s",
    async (kind) => {
      expect(await pictureWith(kind, "135790", true)).not.toBe(await pictureWith(kind, "864213", true));
    },
  );

  it("show dots in recordings", async () => {
    const films: Buffer[] = [];
    for (const [value, visible] of [
      ["135790", false],
      ["864213", false],
      ["135790", true],
      ["864213", true],
    ] as const) {
      const started = await instance.call("POST", "/replays", JSON.stringify({ framerate: 10 }));
      const { replay_id: id } = JSON.parse(started.text) as { replay_id: string };
      await type("a long answer", value, visible);
      await instance.call("POST", `/replays/${id}/stop`);
      films.push(await download(instance, id));
    }
    const [first, second, shown, shownToo] = await lastPictures(instance, films);
    // An encoder may choose other values for the same picture.
    expect(differingPixels(first, second)).toBeLessThan(5);
    expect(differingPixels(shown, shownToo)).toBeGreaterThan(40);
  });
});

async function download(instance: RunningInstance, id: string): Promise<Buffer> {
  return eventuallyPasses(
    () =>
      new Promise<Buffer>((resolve, reject) => {
        request({ socketPath: instance.config.listen_path, path: `/replays/${id}` }, (response) => {
          if (response.statusCode === 200) buffer(response).then(resolve, reject);
          else reject(new Error(String(response.statusCode)));
        })
          .on("error", reject)
          .end();
      }),
  );
}

/** Grey values of the last frame of each film, decoded by the instance's own browser. */
async function lastPictures(instance: RunningInstance, films: readonly Buffer[]): Promise<number[][]> {
  const socket = await instance.connect();
  const cdp = cdpClient(socket);
  const { result: created } = (await cdp.send("Target.createTarget", { url: "about:blank" })) as unknown as Answer<{
    targetId: string;
  }>;
  const { result: attached } = (await cdp.send("Target.attachToTarget", {
    ...created,
    flatten: true,
  })) as unknown as Answer<{
    sessionId: string;
  }>;
  const pictures: number[][] = [];
  for (const film of films) {
    const expression = `(${decode.toString()})(${JSON.stringify(film.toString("base64"))})`;
    const params = { expression, awaitPromise: true, returnByValue: true };
    const { result } = (await cdp.send("Runtime.evaluate", params, attached.sessionId)) as unknown as Answer<{
      result: { value?: number[] };
    }>;
    pictures.push(result.result.value ?? expect.fail(JSON.stringify(result)));
  }
  socket.close();
  return pictures;
}

interface Answer<T> {
  readonly result: T;
}

async function decode(base64: string): Promise<number[]> {
  const video = document.createElement("video");
  video.src = `data:video/mp4;base64,${base64}`;
  const event = (name: string) =>
    new Promise((resolve) => {
      video.addEventListener(name, resolve, { once: true });
    });
  await event("loadeddata");
  const sought = event("seeked");
  video.currentTime = 100_000;
  await sought;
  const { videoHeight: height, videoWidth: width } = video;
  const context = new OffscreenCanvas(width, height).getContext("2d");
  for (let frame = 0; frame < 600; frame++) {
    context?.drawImage(video, 0, 0);
    const { data = [] } = context?.getImageData(0, 0, width, height) ?? {};
    // The canvas stays empty until the frame is decoded.
    if (data[3] !== 0) return [...data].filter((_, place) => place % 4 === 1);
    await new Promise(requestAnimationFrame);
  }
  throw new Error("The film has no picture.");
}

function differingPixels(first: readonly number[] = [], second: readonly number[] = []): number {
  expect([first.length > 0, first.length]).toEqual([true, second.length]);
  return first.filter((value, place) => Math.abs(value - (second[place] ?? 0)) > 60).length;
}
