import type { WebMcpInvocation, WebMcpTools } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { describeChromium } from "../../../testing/chromium.ts";
import { ActingSession, type Refused } from "../testing/acting-session.ts";

const register = (...tools: string[]): string =>
  `<title>Tools</title><script>${tools.map((tool) => `document.modelContext.registerTool(${tool});`).join("")}</script>`;
const add = `{ name: "add", title: "Sum", description: "Add", inputSchema: { type: "object", properties: { a: { type: "number" } } },
  annotations: { readOnlyHint: true }, execute: ({ a }) => a + 1 }`;

describeChromium("tools of all tabs", (chromium) => {
  const session = new ActingSession(chromium);
  const call = async (method: string, path: string, body?: object): Promise<object> => {
    const { status, text } = await session.instance.call(method, path, body && JSON.stringify(body));
    const answer = JSON.parse(text) as object;
    return status === 200 ? answer : { ...answer, status };
  };
  const list = async () => ((await call("GET", "/webmcp/tools")) as WebMcpTools).tools;
  const refOf = async (name: string): Promise<string> => {
    const found = (await list()).find(({ tool }) => tool.name === name);
    if (found === undefined) throw new Error(`No tool is named ${name}.`);
    return found.tool_ref;
  };
  const invoke = async (tool_ref: string, input: object = {}, rest: object = {}) =>
    (await call("POST", "/webmcp/invoke", { tool_ref, input, ...rest })) as WebMcpInvocation & Refused;

  it("have references, places and the page's own metadata", async () => {
    session.page("/inner", register(`{ name: "inner", description: "In a frame", execute: () => 1 }`));
    session.page("/second", register(`{ name: "second", description: "In another tab", execute: () => 2 }`));
    await session.show(`${register(add)}<iframe src="/inner#part"></iframe><form toolname="find" tooldescription="Find">
      <input name="q"></form>`);
    await session.done({ type: "open_tab", url: session.url("/second#part") });
    await expect.poll(async () => (await list()).length).toBe(4);
    const tools = await list();
    const page_url = session.url("/");
    expect(tools).toMatchObject([
      {
        tool_ref: expect.stringMatching(/^wmcp_[\w-]{43}$/) as string,
        tool: { name: "add", description: "Add", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
        source: { tab_id: 1, page_title: "Tools", frame: null },
      },
      { tool: { name: "find", annotations: { autosubmit: false } }, source: { frame: null } },
      {
        tool: { name: "inner", inputSchema: { type: "object" } },
        source: { tab_id: 1, frame: { frame_id: 1, url: session.url("/inner") } },
      },
      { tool: { name: "second" }, source: { page_url: session.url("/second"), frame: null } },
    ]);
    expect(tools[0]?.source.page_url).not.toContain("#");
    expect(tools[0]?.source.page_url.startsWith(page_url)).toBe(true);
    expect(tools.every(({ source }) => source.window_id > 0)).toBe(true);
    expect((await list()).map(({ tool_ref }) => tool_ref)).toEqual(tools.map(({ tool_ref }) => tool_ref));
    expect(await invoke(await refOf("second"))).toMatchObject({ status: "completed", output: 2 });
    expect(await invoke(await refOf("inner"))).toMatchObject({ status: "completed", output: 1 });
    await session.done({ type: "close_tab" });
  });

  it("have addresses of limited length", async () => {
    const long = "history.replaceState(null, '', '?' + 'x'.repeat(20_000));";
    session.page("/long", `<script>${long}</script>${register(`{ name: "far", description: "x", execute: () => 1 }`)}`);
    await session.show('<iframe src="/long"></iframe>');
    await expect.poll(async () => (await list())[0]?.source.frame?.url.length).toBe(8000);
  });

  describe("in a call", () => {
    it("answer with a result or an error, and fill forms without sending them", async () => {
      session.page("/found", "<title>Found</title>");
      await session.show(`${register(add, `{ name: "boom", description: "x", execute() { throw new Error("out of herring") } }`)}
        <form toolname="find" tooldescription="Find" action="/found"><input name="q"><button>Find</button></form>
        <form toolname="lost" tooldescription="Without a button"><input name="q"></form>
        <form toolname="go" tooldescription="Go" toolautosubmit action="/found"><input name="q"></form>`);
      expect(await invoke(await refOf("add"), { a: 1 })).toMatchObject({ status: "completed", output: 2 });
      const failed = await invoke(await refOf("boom"));
      expect(failed).toMatchObject({ status: "error", invocation_id: expect.any(String) as string });
      expect(failed.error_text).toContain("out of herring");
      expect(await invoke(await refOf("find"), { q: "cod" })).toMatchObject({
        status: "awaiting_submission",
        output: { form_populated: true, submitted: false },
      });
      const code = "return page.inputValue('[toolname=find] input')";
      expect(await call("POST", "/playwright/execute", { code })).toMatchObject({ result: "cod" });
      const lost = await invoke(await refOf("lost"), { q: "cod" });
      expect(lost).toMatchObject({ status: "error", error_text: expect.stringContaining("submit button") as string });
      await invoke(await refOf("go"), { q: "cod" });
      await session.done({ type: "wait_for", url: "*/found?q=cod" });
    });

    it("say that the result is unknown, and that a reference has ended", async () => {
      await session.show(register(add, `{ name: "hang", description: "x", execute: () => new Promise(() => {}) }`));
      const late = await invoke(await refOf("hang"), {}, { timeout_sec: 1 });
      expect(late).toMatchObject({ status: 504, code: "outcome_unknown", invocation_id: expect.any(String) as string });
      const ref = await refOf("add");
      await session.show(register(add));
      expect(await invoke(ref, { a: 1 })).toMatchObject({
        status: 404,
        code: "tool_not_found",
        field: "body.tool_ref",
      });
      expect(await invoke("wmcp_none")).toMatchObject({ status: 404 });
      await session.show(register(`{ name: "ask", description: "x", execute: () => confirm("Buy?") }`));
      expect(await invoke(await refOf("ask"))).toMatchObject({ status: 504, code: "outcome_unknown" });
      expect(await list()).toEqual([]);
      await session.done({ type: "answer_dialog", accept: true });
      expect(await list()).toHaveLength(1);
    });

    it("end in time while a page does not answer, and when it crashes", async () => {
      await session.show(
        register(
          `{ name: "hang", description: "x", execute: () => { fetch("/begun"); return new Promise(() => {}); } }`,
        ),
      );
      const begun = new Promise<void>((resolve) => {
        session.handle("/begun", (_request, response) => {
          response.end();
          resolve();
        });
      });
      const crashed = invoke(await refOf("hang"));
      await begun;
      const code = "const cdp = await page.context().newCDPSession(page); cdp.send('Page.crash').catch(() => 0)";
      await call("POST", "/playwright/execute", { code });
      expect(await crashed).toMatchObject({ status: 504, code: "outcome_unknown" });
      session.page("/calm", register(add));
      await session.done({ type: "open_tab", url: session.url("/calm") });
      await session.done({ type: "close_tab", tab: "t1" });
      await session.evaluate("void setTimeout(() => { for (const end = Date.now() + 8000; Date.now() < end;); })");
      expect(await invoke("wmcp_none", {}, { timeout_sec: 1 })).toMatchObject({
        status: 409,
        code: "page_not_responding",
      });
    });
  });
});
