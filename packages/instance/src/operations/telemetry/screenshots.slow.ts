import { expect, it } from "vitest";
import type { PageOutline } from "../../index.ts";
import { describeChromium } from "../../testing/chromium.ts";
import { cdpClient, runInstance, type RunningInstance } from "../../testing/run-instance.ts";
import { followTelemetry } from "./testing/follow.ts";

const page = (html: string) => `data:text/html,${encodeURIComponent(html)}`;

async function frontPage(instance: RunningInstance) {
  const cdp = cdpClient(await instance.connect());
  const { result } = (await cdp.send("Target.getTargets")) as {
    result: { targetInfos: { targetId: string; type: string }[] };
  };
  const targetId = result.targetInfos.find(({ type }) => type === "page")?.targetId;
  const { result: attached } = (await cdp.send("Target.attachToTarget", { targetId, flatten: true })) as {
    result: { sessionId: string };
  };
  return (method: string, params?: object) => cdp.send(method, params, attached.sessionId);
}

type Client = ReturnType<typeof cdpClient>;

async function pagesOf(cdp: Client) {
  const { result } = (await cdp.send("Target.getTargets")) as {
    result: { targetInfos: { targetId: string; title: string }[] };
  };
  return result.targetInfos;
}

/** Opens a page, and waits until it has its title. */
async function openPage(cdp: Client, title: string, context: object = {}): Promise<string> {
  const url = page(`<title>${title}</title><h1>${title}</h1>`);
  const { result } = (await cdp.send("Target.createTarget", { url, ...context })) as { result: { targetId: string } };
  const { targetId } = result;
  await expect
    .poll(async () => (await pagesOf(cdp)).find((info) => info.targetId === targetId))
    .toMatchObject({ title });
  return targetId;
}

/** Ends the telemetry as the service does, and returns its pictures. */
async function end(instance: RunningInstance) {
  const told = followTelemetry(instance);
  const body = JSON.stringify({ categories: [], final: true });
  const { status } = await instance.call("POST", "/_instance/telemetry", body);
  expect(status).toBe(200);
  await told.ended;
  return { pictures: told.of("page_picture") };
}

describeChromium("the last picture", (chromium) => {
  it("shows the front page at the end, as a JPEG", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const send = await frontPage(instance);
    await send("Page.enable");
    await send("Page.navigate", { url: page("<title>Orders</title><h1>3 orders</h1>") });
    await send("Runtime.evaluate", { expression: "document.title" });
    const { pictures } = await end(instance);
    expect(pictures).toHaveLength(1);
    const { jpeg, ...data } = pictures[0]?.data ?? {};
    const bytes = Buffer.from(String(jpeg), "base64");
    expect([...bytes.subarray(0, 3)]).toEqual([0xff, 0xd8, 0xff]);
    expect(data).toMatchObject({ title: "Orders", size_bytes: bytes.length });
    expect(bytes.length).toBeLessThan(2 ** 20);
  });

  it("shows the last page with content that a client closed", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const cdp = cdpClient(await instance.connect());
    const first = await openPage(cdp, "Orders");
    const second = await openPage(cdp, "Invoice");
    // The first one may remain for a moment.
    for (const targetId of [first, second])
      expect(await cdp.send("Target.closeTarget", { targetId })).toHaveProperty("result.success", true);
    const { pictures } = await end(instance);
    expect(pictures).toMatchObject([{ data: { title: "Invoice", target_id: second, closed: true } }]);
  });

  it("shows the front page if a client closed another one", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const cdp = cdpClient(await instance.connect());
    await openPage(cdp, "Orders");
    const targetId = await openPage(cdp, "Invoice");
    await cdp.send("Target.closeTarget", { targetId });
    const { pictures } = await end(instance);
    expect(pictures).toMatchObject([{ data: { title: "Orders" } }]);
    expect(pictures[0]?.data).not.toHaveProperty("closed");
  });

  it.each([
    ["closes it and disconnects at once", false],
    ["has it in a context that ends with the connection", true],
  ])("shows the page of a client that %s", async (_case, hasContext) => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const other = cdpClient(await instance.connect());
    const socket = await instance.connect();
    const cdp = cdpClient(socket);
    const context = { disposeOnDetach: true };
    const created = hasContext ? ((await cdp.send("Target.createBrowserContext", context)).result as object) : {};
    const targetId = await openPage(cdp, "Orders", created);
    if (!hasContext) void cdp.send("Target.closeTarget", { targetId }).catch(() => undefined);
    socket.close();
    await expect.poll(async () => (await pagesOf(other)).map(({ title }) => title)).not.toContain("Orders");
    const { pictures } = await end(instance);
    expect(pictures).toMatchObject([{ data: { title: "Orders", target_id: targetId, closed: true } }]);
  });

  it("is not taken after a sign-in, also when its pages are released", async () => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: ["page"] });
    const send = await frontPage(instance);
    await send("Page.navigate", { url: page("<title>Sign in</title><input id=p oninput='document.title = value'>") });
    await send("Runtime.evaluate", { expression: "document.title" });
    const call = async (path: string, body?: object) => {
      const { status, text } = await instance.call("POST", `/_instance/page/${path}`, body && JSON.stringify(body));
      expect(status, text).toBeLessThan(300);
      return text;
    };
    const { nodes } = JSON.parse(await call("outline")) as PageOutline;
    const field = nodes.find(({ attributes }) => attributes.id === "p");
    await call("act", { kind: "fill", ref: field?.ref, value: "opensesame", hosts: [] });
    await call("release");
    const { pictures } = await end(instance);
    expect(pictures).toEqual([]);
  });

  it.each([
    ["the page is empty", ["page"], "about:blank", "0"],
    ["pages are not captured", ["console", "network"], page("<h1>text</h1>"), "0"],
    ["the page is busy", ["page"], page("<h1>text</h1>"), "setTimeout(() => { for (;;); }, 0)"],
    ["a dialog is open", ["page"], page("<h1>text</h1>"), "setTimeout(() => alert(1), 0)"],
  ])("is not taken if %s, and the end goes on without it", async (_case, telemetry, url, script) => {
    await using instance = await runInstance({ chromium });
    await instance.assign({ telemetry: telemetry as ["page"] });
    const send = await frontPage(instance);
    await send("Page.navigate", { url });
    await send("Runtime.evaluate", { expression: script });
    const { pictures } = await end(instance);
    // A dialog may leave the picture as it was.
    if (!script.includes("alert")) expect(pictures).toEqual([]);
  });
});
