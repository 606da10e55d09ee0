import { compileFunction, runInNewContext } from "node:vm";
import { describe, expect, it } from "vitest";
import { Shoal } from "../../index.ts";

const browser = {
  session_id: "b1",
  created_at: "2026-01-01T00:00:00Z",
  cdp_ws_url: "ws://127.0.0.1:1/b1",
  webdriver_ws_url: "ws://127.0.0.1:1/w1",
  headless: true,
  stealth: false,
  timeout_seconds: 60,
};
const acted = {
  ...{ tab: "t1", url: "https://a.example/", title: "A", navigated: false, settled: true },
  ...{ new_tabs: [], downloads: [], failed_requests: [] },
};

/** A client whose requests are noted, and answered by `answer`. */
function client(answer: (path: string, body: unknown) => unknown) {
  const sent: [string, unknown][] = [];
  const shoal = new Shoal({
    apiKey: "sk_0123456789abcdef",
    baseUrl: "http://127.0.0.1:1",
    direct: false,
    async fetch(request: Request) {
      const { pathname } = new URL(request.url);
      const text = await request.text();
      const body: unknown = text === "" ? undefined : JSON.parse(text);
      sent.push([`${request.method} ${pathname}`, body]);
      const answered = await answer(pathname, body);
      return answered instanceof Response ? answered : Response.json(answered ?? browser);
    },
  });
  return { shoal, sent };
}

describe("a session's methods", () => {
  it("are not part of its data", async () => {
    const { shoal } = client(() => browser);
    const session = await shoal.browsers.create();
    expect({ ...session }).toEqual(browser);
    expect(JSON.parse(JSON.stringify(session))).toEqual(browser);
  });

  it("send actions with references, selectors and names", async () => {
    const { shoal, sent } = client((path) => (path.endsWith("/act") ? acted : undefined));
    const session = await shoal.browsers.attach("b1");
    sent.length = 0;
    await session.goto("https://a.example/", { timeout_ms: 5000 });
    await session.click("e12", { button: "right" });
    await session.fill("#name", "Ada", { submit: true, observe: { diff: true } });
    await session.select({ role: "combobox", name: "Size" }, "L", { tab: "t2" });
    await session.press("Enter");
    await session.drag("e1", { role: "list" });
    await session.upload("e3", ["/home/shoal/a.pdf"]);
    await session.scroll("e4");
    await session.scroll({ delta_y: 300 });
    await session.waitFor({ text: "Saved" });
    await session.selectTab("t2");
    await session.answerDialog(true, "yes");
    expect(sent.map(([, body]) => body)).toEqual([
      { type: "navigate", url: "https://a.example/", timeout_ms: 5000 },
      { type: "click", ref: "e12", button: "right" },
      { type: "fill", selector: "#name", text: "Ada", submit: true, observe: { diff: true } },
      { type: "select", role: "combobox", name: "Size", values: ["L"], tab: "t2" },
      { type: "press", keys: ["Enter"] },
      { type: "drag", ref: "e1", to: { role: "list" } },
      { type: "upload", ref: "e3", paths: ["/home/shoal/a.pdf"] },
      { type: "scroll", ref: "e4" },
      { type: "scroll", delta_y: 300 },
      { type: "wait_for", text: "Saved" },
      { type: "select_tab", tab: "t2" },
      { type: "answer_dialog", accept: true, text: "yes" },
    ]);
    expect(new Set(sent.map(([path]) => path))).toEqual(new Set(["POST /browsers/b1/act"]));
  });

  it("return pictures as bytes", async () => {
    const { shoal, sent } = client((path) =>
      path.endsWith("/screenshot") ? new Response("PNG", { headers: { "content-type": "image/png" } }) : undefined,
    );
    const session = await shoal.browsers.attach("b1");
    expect(new TextDecoder().decode(await session.screenshot({ labels: true }))).toBe("PNG");
    expect(sent.at(-1)).toEqual(["POST /browsers/b1/screenshot", { labels: true }]);
  });

  it("end a session once, and accept that it has ended", async () => {
    const { sent, shoal } = client((path) =>
      path === "/browsers/b1"
        ? Response.json({ code: "not_found", message: "Session b1 was not found." }, { status: 404 })
        : undefined,
    );
    await (await shoal.browsers.create())[Symbol.asyncDispose]();
    expect(sent.at(-1)?.[0]).toBe("DELETE /browsers/b1");
  });
});

describe("evaluate", () => {
  /** Runs the code of a session in a separate realm, as a page does. */
  const evaluating = () =>
    client(async (path, body) => {
      if (!path.endsWith("/playwright/execute")) return undefined;
      const { code } = body as { code: string };
      const evaluate = (expression: string): Promise<unknown> =>
        Promise.resolve(runInNewContext(expression, { document: { title: "Fish" } })) as Promise<unknown>;
      const run = compileFunction(`return (async () => { ${code} })();`, ["page"]) as (
        page: object,
      ) => Promise<unknown>;
      return run({ evaluate }).then(
        (result) => ({ success: true, result: JSON.parse(JSON.stringify(result)) as unknown }),
        (error: unknown) => ({ success: false, error: String(error) }),
      );
    }).shoal.browsers.attach("b1");

  it("returns values of expressions, and of functions with an argument", async () => {
    const session = await evaluating();
    expect(await session.evaluate("document.title")).toBe("Fish");
    expect(await session.evaluate("1 // a comment")).toBe(1);
    expect(await session.evaluate((count: number) => ({ twice: count * 2 }), 21)).toEqual({ twice: 42 });
    expect(await session.evaluate(async () => Promise.resolve("later"))).toBe("later");
    expect(await session.evaluate("undefined")).toBeUndefined();
  });

  it("throws what the page threw", async () => {
    const session = await evaluating();
    const failure: unknown = await session.evaluate("nothing.here").catch((error: unknown) => error);
    expect(failure).toBeInstanceOf(Error);
    expect(failure).toMatchObject({ name: "ReferenceError", message: "nothing is not defined" });
    await expect(session.evaluate("(() => { throw { code: 7 }; })()")).rejects.toEqual({ code: 7 });
    await expect(session.evaluate("(() => { throw null; })()")).rejects.toBeNull();
    await expect(session.evaluate("syntax error(")).rejects.toThrow("SyntaxError");
  });
});

it("withResponse also returns the response", async () => {
  const { shoal } = client(() =>
    Response.json(browser, { status: 200, headers: { "x-request-id": "r1", "content-type": "application/json" } }),
  );
  const { data, response } = await shoal.browsers.get("b1").withResponse();
  expect([data.session_id, response.status, response.headers.get("x-request-id")]).toEqual(["b1", 200, "r1"]);
  expect((await shoal.browsers.get("b1")).session_id).toBe("b1");
});
