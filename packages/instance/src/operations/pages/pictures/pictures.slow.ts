import { eventuallyPasses } from "@shoal/testkit";
import { request, type IncomingMessage } from "node:http";
import { buffer } from "node:stream/consumers";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../../testing/run-instance.ts";

const page = `<!doctype html><body style="margin:0"><h1>Pictures</h1><button>Save</button>
  <div id=card style="width:300px;height:60px;background:#0000ff"></div><div id=none style="display:none">x</div>
  <div id=low style="margin-top:2000px;height:900px;background:#ff0000"></div>
  <script>log = []; new MutationObserver((records) => log.push(records.length)).observe(document, { subtree: true, childList: true, attributes: true });</script>`;

interface Answer {
  readonly status: number;
  readonly headers: IncomingMessage["headers"];
  readonly bytes: Buffer;
}

/** Width and height of a PNG picture. */
const sizeOf = ({ bytes }: Answer): readonly number[] => [bytes.readUInt32BE(16), bytes.readUInt32BE(20)];
const errorOf = ({ bytes }: Answer): unknown => JSON.parse(bytes.toString());

describeChromium("pictures", (chromium) => {
  let instance: RunningInstance;
  let run: (expression: string) => Promise<unknown>;
  let acceptDialog: () => Promise<unknown>;

  beforeAll(async () => {
    instance = await runInstance({ chromium });
    await instance.assign({ timeout_seconds: 600, viewport: { width: 800, height: 600 } });
    const cdp = cdpClient(await instance.connect());
    const { result } = await cdp.send("Target.getTargets");
    const { targetInfos } = result as { targetInfos: { targetId: string; type: string }[] };
    const targetId = targetInfos.find(({ type }) => type === "page")?.targetId;
    const attached = await cdp.send("Target.attachToTarget", { targetId, flatten: true });
    const { sessionId } = attached.result as { sessionId: string };
    // Only sessions that had this domain before the dialog can answer it.
    await cdp.send("Page.enable", {}, sessionId);
    acceptDialog = () => cdp.send("Page.handleJavaScriptDialog", { accept: true }, sessionId);
    run = async (expression) => {
      const answer = await cdp.send("Runtime.evaluate", { expression, returnByValue: true }, sessionId);
      return (answer.result as { result: { value?: unknown } }).result.value;
    };
    await run(`document.open(); document.write(${JSON.stringify(page)}); document.close()`);
  });
  afterAll(async () => {
    await instance[Symbol.asyncDispose]();
  });

  async function post(path: string, body: object = {}): Promise<Answer> {
    const { promise, reject, resolve } = Promise.withResolvers<IncomingMessage>();
    const headers = { "content-type": "application/json" };
    request({ socketPath: instance.config.listen_path, method: "POST", path, headers }, resolve)
      .on("error", reject)
      .end(JSON.stringify(body));
    const response = await promise;
    return { status: response.statusCode ?? 0, headers: response.headers, bytes: await buffer(response) };
  }

  it("takes the visible part, and changes nothing in the page", async () => {
    await run("log.splice(0)");
    const answer = await post("/screenshot");
    expect(answer.headers["content-type"]).toBe("image/png");
    expect(sizeOf(answer)).toEqual([800, 600]);
    const labelled = await post("/screenshot", { labels: true });
    expect(sizeOf(labelled)).toEqual([800, 600]);
    expect(await run("JSON.stringify(log)")).toBe("[]");
  });

  it("draws references that are valid in other calls", async () => {
    const [plain, labelled] = [await post("/screenshot"), await post("/screenshot", { labels: true })];
    expect(labelled.bytes.equals(plain.bytes)).toBe(false);
    const outline = JSON.parse((await post("/observe")).bytes.toString()) as { outline: string };
    const ref = /button "Save" \[(e\d+)\]/.exec(outline.outline)?.[1];
    expect(ref, outline.outline).toBe("e1");
    const text = await post("/read", { ref });
    expect(JSON.parse(text.bytes.toString())).toMatchObject({ markdown: "Save\n" });
    expect(sizeOf(await post("/screenshot", { ref }))[0]).toBeLessThan(100);
  });

  it("takes the whole page, and leaves the scroll position", async () => {
    await run("scrollTo(0, 300)");
    const [width, height] = sizeOf(await post("/screenshot", { full_page: true }));
    expect([width, height]).toEqual([800, await run("document.documentElement.scrollHeight")]);
    expect(await run("scrollY")).toBe(300);
  });

  it("scales a tall page down instead of cutting it", async () => {
    await run("low.style.height = '30000px'");
    const pageHeight = Number(await run("document.documentElement.scrollHeight"));
    const [width = 0, height = 0] = sizeOf(await post("/screenshot", { full_page: true }));
    expect(height).toBe(16_384);
    expect(Math.abs(width - (800 * 16_384) / pageHeight)).toBeLessThan(2);
    await run("low.style.height = '900px'");
  });

  it("takes the parts of a tall page in their size, and says how many there are", async () => {
    await run("low.style.height = '3000px'");
    const pageHeight = Number(await run("document.documentElement.scrollHeight"));
    const last = Math.ceil(pageHeight / 1568);
    expect(sizeOf(await post("/screenshot", { full_page: true, tile: 1 }))).toEqual([800, 1568]);
    const end = await post("/screenshot", { full_page: true, tile: last });
    expect(sizeOf(end)).toEqual([800, pageHeight - (last - 1) * 1568]);
    const beyond = await post("/screenshot", { full_page: true, tile: last + 1 });
    expect(beyond.status).toBe(400);
    expect(errorOf(beyond)).toMatchObject({ field: "body.tile", limit: last });
    expect(sizeOf(await post("/screenshot", { full_page: true, tile: 1, max_width: 400 }))).toEqual([400, 1568]);
    await run("low.style.height = '900px'");
  });

  it("takes an element", async () => {
    expect(sizeOf(await post("/screenshot", { selector: "#card" }))[0]).toBe(300);
    const [width, height = 0] = sizeOf(await post("/screenshot", { selector: "#low" }));
    expect(width).toBe(800);
    expect(Math.abs(height - 900)).toBeLessThanOrEqual(1);
    const none = await post("/screenshot", { selector: "#none" });
    expect(none).toMatchObject({ status: 409 });
    expect(errorOf(none)).toMatchObject({ code: "conflict" });
    expect(await post("/screenshot", { selector: "#missing" })).toMatchObject({ status: 404 });
    expect(await post("/screenshot", { selector: "#card", full_page: true })).toMatchObject({ status: 400 });
  });

  it("shrinks wide pictures, and answers with the type of the format", async () => {
    expect(sizeOf(await post("/screenshot", { max_width: 200 }))).toEqual([200, 150]);
    for (const labels of [false, true]) {
      const jpeg = await post("/screenshot", { format: "jpeg", quality: 50, labels });
      expect(jpeg.headers["content-type"]).toBe("image/jpeg");
      expect(jpeg.bytes.subarray(0, 3).toString("hex")).toBe("ffd8ff");
      const webp = await post("/screenshot", { format: "webp", labels });
      expect(webp.headers["content-type"]).toBe("image/webp");
      expect(webp.bytes.subarray(8, 12).toString()).toBe("WEBP");
    }
  });

  it("prints the page", async () => {
    const answer = await post("/pdf", { page_ranges: "1" });
    expect(answer.headers["content-type"]).toBe("application/pdf");
    expect(answer.bytes.subarray(0, 5).toString()).toBe("%PDF-");
    expect(answer.bytes.subarray(-6).toString()).toContain("%%EOF");
    // A4 in points.
    expect(answer.bytes.toString("latin1")).toMatch(/\/MediaBox \[0 0 59[45](?:\.\d+)? 84[12](?:\.\d+)?\]/);
  });

  it.each([
    [{ page_ranges: "99" }, "body.page_ranges"],
    [{ page_ranges: "3-1" }, "body.page_ranges"],
    [{ page_ranges: "a" }, "body.page_ranges"],
    [{ format: "A5", margin_inches: 4 }, "body.margin_inches"],
  ])("refuses to print with %j", async (body, field) => {
    const answer = await post("/pdf", body);
    expect(answer).toMatchObject({ status: 400 });
    expect(errorOf(answer)).toMatchObject({ code: "bad_request", field });
  });

  it("takes the visible part while a dialog is open, and refuses the rest", async () => {
    await post("/read");
    void run("alert(1)").catch(() => undefined);
    await eventuallyPasses(async () => {
      expect(await post("/read")).toMatchObject({ status: 409 });
    });
    expect(await post("/screenshot", { full_page: true })).toMatchObject({ status: 409 });
    expect(sizeOf(await post("/screenshot"))).toEqual([800, 600]);
    expect((await post("/screenshot", { format: "jpeg" })).headers["content-type"]).toBe("image/jpeg");
    const refused = await post("/pdf");
    expect(refused).toMatchObject({ status: 409 });
    expect(errorOf(refused)).toMatchObject({ code: "dialog_open" });
    await acceptDialog();
  });

  it("takes the last frame of a busy page", async () => {
    await run("1");
    // The instance may end before the loop.
    void run("for (const end = Date.now() + 5000; Date.now() < end; );").catch(() => undefined);
    expect(sizeOf(await post("/screenshot"))).toEqual([800, 600]);
  });
});
