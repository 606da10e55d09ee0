import type { CustomWebMcpTool, CustomWebMcpTools, ReplResult, WebMcpInvocation, WebMcpTools } from "@shoal/schemas";
import { beforeAll, expect, it } from "vitest";
import { describeChromium } from "../../../testing/chromium.ts";
import { ActingSession, type Refused } from "../testing/acting-session.ts";

const anywhere = `match: { url_patterns: ["http://127.0.0.1/*"] }`;
const tool = (name: string, rest = "") => `tool: { name: ${JSON.stringify(name)}, description: "Test"${rest} }`;

describeChromium("custom tools", (chromium) => {
  const session = new ActingSession(chromium);
  const call = async (method: string, path: string, body?: object) => {
    const { status, text } = await session.instance.call(method, path, body && JSON.stringify(body));
    const answer = (text === "" ? {} : JSON.parse(text)) as object;
    return (status < 300 ? answer : { ...answer, status }) as CustomWebMcpTools & Refused;
  };
  const add = (source: string, rest: object = {}) =>
    call("POST", "/webmcp/custom-tools", { namespace: "shop", source, ...rest });
  const replace = (source: string) => add(source, { force_overwrite_namespace: true });
  const listed = async (query = "") => ((await call("GET", `/webmcp/tools${query}`)) as unknown as WebMcpTools).tools;
  const custom = async () => (await call("GET", "/webmcp/custom-tools")).tools;
  const invoke = async (name: string, input: object = {}, rest: object = {}) => {
    const found = (await listed()).find((one) => one.tool.name === name);
    if (found === undefined) throw new Error(`No tool is named ${name}.`);
    const answer: object = await call("POST", "/webmcp/invoke", { tool_ref: found.tool_ref, input, ...rest });
    return answer as WebMcpInvocation & Refused;
  };
  const repl = async (code: string, rest: object = {}) =>
    (await call("POST", "/repl", { code, ...rest })) as unknown as ReplResult;
  /** Calls with more and more time: a busy machine may need much to begin. */
  const untilTrue = async (late: (seconds: number) => Promise<object>, isDone: () => Promise<boolean>) => {
    for (const seconds of [1, 2, 4, 8, 16, 32, 64, 120]) {
      const answer = await late(seconds);
      if (await isDone()) {
        expect(answer).toMatchObject({ status: 504, code: "outcome_unknown" });
        return;
      }
    }
    throw new Error("The tool has not begun.");
  };
  beforeAll(async () => {
    await session.show("<title>Shop</title><script>var stock = 3</script>");
  });

  it("run in the page with its variables, and show where they are", async () => {
    const { tools } = await replace(
      `[{ kind: "page", ${anywhere}, ${tool("stock", `, title: "Stock", annotations: { readOnlyHint: true }`)}, execute({ plus }) { return { left: stock + plus, at: document.title } } }]`,
    );
    expect(tools).toMatchObject([
      { id: expect.stringMatching(/^ct_\w{24}$/) as string, namespace: "shop", kind: "page", tool: { name: "stock" } },
    ]);
    expect(tools[0]).not.toHaveProperty("execute");
    expect(await custom()).toEqual(tools);
    expect(await listed()).toMatchObject([
      {
        tool_ref: expect.stringMatching(/^wmcp_[\w-]{43}$/) as string,
        tool: { name: "stock", title: "Stock", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
        source: {
          tab_id: 1,
          page_title: "Shop",
          frame: null,
          custom: { id: tools[0]?.id, namespace: "shop" },
          target_id: expect.any(String) as string,
        },
      },
    ]);
    expect(await listed("?exclude_custom=true")).toEqual([]);
    expect(await invoke("stock", { plus: 2 })).toMatchObject({ status: "completed", output: { left: 5, at: "Shop" } });
  });

  it("run in the process of the REPL with its helpers, the matches and checked schemas", async () => {
    const schema = `{ type: "object", properties: { a: { type: "number" } }, required: ["a"] }`;
    await replace(`[
      { kind: "cdp", ${anywhere}, ${tool("sum", `, inputSchema: ${schema}, outputSchema: { type: "number" }`)},
        execute: async ({ a, odd }, { matches, signal }) => odd ?? a + matches.length + (await js(() => stock)) + (signal.aborted ? 100 : 0) },
      { kind: "cdp", ${anywhere}, ${tool("where")}, execute: (_, { matches }) => matches },
      { kind: "cdp", ${anywhere}, ${tool("long")}, execute: () => "x".repeat(250_000) },
      { kind: "cdp", ${anywhere}, ${tool("bad")}, execute: () => { throw new TypeError("no stock") } },
    ]`);
    expect(await invoke("sum", { a: 1 })).toMatchObject({ status: "completed", output: 5 });
    expect(await invoke("sum", { a: "1" })).toMatchObject({
      status: "error",
      error_text: expect.stringContaining("The input does not fit") as string,
    });
    expect(await invoke("sum", { a: 1, odd: "text" })).toMatchObject({
      status: "error",
      error_text: expect.stringContaining("The output does not fit") as string,
    });
    const { output } = await invoke("where");
    expect(output).toMatchObject([
      {
        url: expect.stringContaining("http://127.0.0.1") as string,
        target_id: null,
        frame_id: expect.any(String) as string,
      },
    ]);
    expect((await invoke("long")).error_text).toContain("245760 bytes");
    expect(await invoke("bad")).toMatchObject({ status: "error", error_text: "TypeError: no stock" });
  });

  it("are added all or none, and replace a namespace at once", async () => {
    const first = `{ kind: "page", ${anywhere}, ${tool("first")}, execute: () => 1 }`;
    const { tools } = await replace(`[${first}]`);
    const refused: [string, number, string][] = [
      [`[${first}]`, 409, "name_taken"],
      [`[{ kind: "page", ${anywhere}, ${tool("new")}, execute: () => 1 }, ${first}]`, 409, "name_taken"],
      ["[]", 400, "bad_request"],
      ["({})", 400, "bad_request"],
      ["[", 400, "bad_request"],
      ["(() => { throw new Error('mine') })()", 400, "bad_request"],
      [
        `[{ kind: "page", match: { url_patterns: ["file:///*"] }, ${tool("a")}, execute: () => 1 }]`,
        400,
        "bad_request",
      ],
      [`[{ kind: "page", ${anywhere}, ${tool("a".repeat(94))}, execute: () => 1 }]`, 400, "bad_request"],
      [`[{ kind: "page", ${anywhere}, ${tool("a")}, execute: Math.max }]`, 400, "bad_request"],
      [`[{ kind: "page", ${anywhere}, ${tool("a")} }]`, 400, "bad_request"],
      [`[{ kind: "cdp", ${anywhere}, ${tool("a")} }]`, 400, "bad_request"],
      [
        `[{ kind: "cdp", ${anywhere}, ${tool("a", `, inputSchema: { type: "nothing" }`)}, execute: () => 1 }]`,
        400,
        "bad_request",
      ],
      [`[{ kind: "other", ${anywhere}, ${tool("a")}, execute: () => 1 }]`, 400, "bad_request"],
    ];
    for (const [source, status, code] of refused)
      expect({ source, ...(await add(source)) }).toMatchObject({ source, status, code });
    expect(await add(`[${first}]`, { namespace: "a b" })).toMatchObject({ status: 400, field: "body.namespace" });
    expect((await add("(() => { throw new Error('mine') })()")).message).toContain("mine");
    expect(await custom()).toEqual(tools);
    const replaced = await replace(`[{ kind: "page", ${anywhere}, ${tool("second")}, execute: () => 2 }]`);
    expect(await custom()).toEqual(replaced.tools);
    const other = await add(`[${first}]`, { namespace: "other" });
    expect((await custom()).map(({ tool: { name } }: CustomWebMcpTool) => name)).toEqual(["second", "first"]);
    const path = `/webmcp/custom-tools/${String(other.tools[0]?.id)}`;
    expect(await call("DELETE", path)).toEqual({});
    expect(await call("DELETE", path)).toMatchObject({ status: 404, code: "tool_not_found" });
    expect(await custom()).toEqual(replaced.tools);
  });

  it("are shown for pages with a matching document, also in a frame", async () => {
    const elsewhere = `match: { url_patterns: ["http://localhost/inner?x=*"] }`;
    await replace(`[{ kind: "page", ${elsewhere}, ${tool("inside")}, execute: () => location.pathname }]`);
    expect(await listed()).toEqual([]);
    session.page("/inner?x=1", "<title>Inner</title>");
    await session.show(`<title>Outer</title><iframe src="${session.url("/inner?x=1", "localhost")}"></iframe>`);
    await expect.poll(async () => (await listed()).length).toBe(1);
    expect(await listed()).toMatchObject([{ source: { page_title: "Outer", frame: null } }]);
    expect(await invoke("inside")).toMatchObject({ status: "completed", output: "/inner" });
    await session.show("<title>Shop</title><script>var stock = 3</script>");
    expect(await listed()).toEqual([]);
  });

  it("end with an unknown outcome when their page goes, they are late, or their process ends", async () => {
    await replace(`[
      { kind: "page", ${anywhere}, ${tool("leave")}, execute: () => { location.href = "/page-1"; return new Promise(() => {}) } },
      { kind: "page", ${anywhere}, ${tool("hang")}, execute: () => { globalThis.begun = true; return new Promise(() => {}) } },
      { kind: "cdp", ${anywhere}, ${tool("exit")}, execute: () => process.exit(3) },
    ]`);
    const unknown = { status: 504, code: "outcome_unknown" };
    expect(await invoke("leave")).toMatchObject(unknown);
    await untilTrue(
      (timeout_sec) => invoke("hang", {}, { timeout_sec }),
      async () => (await repl(`console.log(await js(() => globalThis.begun === true))`)).content[0]?.text === "true\n",
    );
    expect(await invoke("exit")).toMatchObject(unknown);
    expect(await custom()).toEqual([]);
  });

  it.each([
    ["waits", "() => new Promise(() => {})"],
    ["never lets go", "() => { for (;;); }"],
  ])("end their process when a call is late whose code %s", async (_, execute) => {
    await untilTrue(
      async (timeout_sec) => {
        await replace(`[{ kind: "cdp", ${anywhere}, ${tool("late")}, execute: ${execute} }]`);
        return invoke("late", {}, { timeout_sec });
      },
      async () => (await custom()).length === 0,
    );
    const { content } = await repl("console.log(1)");
    expect(content.map(({ text }) => text).join("")).toContain("was stopped before its end");
  });

  it.each(["/odd?", "/odd?a=b?#c?", "/odd/ä|^'\"?q=ü|^'\"{}#x#y", "/odd/a//..//a;b,c/%7e%2f?%"])(
    "run at the address %s",
    async (path) => {
      session.page(new URL(session.url(path)).pathname, "<title>Odd</title>");
      await session.act({ type: "navigate", url: session.url(path) });
      await replace(`[{ kind: "page", ${anywhere}, ${tool("here")}, execute: () => location.href }]`);
      expect(await invoke("here")).toMatchObject({
        status: "completed",
        output: expect.stringContaining("/odd") as string,
      });
    },
  );

  it("answer an error of at most 4,000 characters, also of a page that replaced much", async () => {
    await session.show(
      `<title>Odd</title><script>String.prototype.slice = Error.prototype.toString = () => "x".repeat(1e6)</script>`,
    );
    await replace(`[
      { kind: "page", ${anywhere}, ${tool("long")}, execute: () => { throw new Error("short") } },
      { kind: "page", ${anywhere}, ${tool("text")}, execute: () => { throw "a text" } },
      { kind: "page", ${anywhere}, ${tool("odd")}, execute: () => { throw { toString() { throw 1 } } } },
      { kind: "page", ${anywhere}, ${tool("big")}, execute: () => "x".repeat(1_000_000) },
    ]`);
    expect(await invoke("long")).toMatchObject({ status: "error", error_text: "x".repeat(4_000) });
    expect(await invoke("text")).toMatchObject({ status: "error", error_text: "a text" });
    expect(await invoke("odd")).toMatchObject({ status: "error", error_text: "The tool failed." });
    expect((await invoke("big")).error_text).toContain("at most 1000000 characters");
    await session.show("<title>Shop</title><script>var stock = 3</script>");
  });

  it("import modules in their functions", async () => {
    await replace(
      `[{ kind: "cdp", ${anywhere}, ${tool("import")}, execute: async () => (await import("node:path")).posix.sep }]`,
    );
    expect(await invoke("import")).toMatchObject({ status: "completed", output: "/" });
  });

  it("end with a reset of the REPL, whose code has the same functions", async () => {
    await replace(`[{ kind: "page", ${anywhere}, ${tool("stock")}, execute: () => 1 }]`);
    await repl("", { reset: true });
    expect(await custom()).toEqual([]);
    const { content, error } = await repl(`
      const [{ id }] = await webmcp.addCustomTools({ namespace: "mine", tools: [
        { kind: "cdp", ${anywhere}, ${tool("double")}, execute: ({ n }) => n * 2 },
      ] });
      const [{ tool_ref, source }] = await browser.webmcp.listTools();
      const { output } = await webmcp.invokeTool(tool_ref, { n: 21 });
      const known = (await webmcp.listCustomTools()).length;
      const failure = await webmcp.invokeTool("wmcp_none").catch(({ code, statusCode }) => [code, statusCode].join());
      const invalid = await webmcp.invokeTool(tool_ref, 1).catch(({ statusCode }) => statusCode);
      const [removed, again] = [await webmcp.removeCustomTool(id), await webmcp.removeCustomTool(id)];
      console.log(JSON.stringify({ output, known, failure, invalid, removed, again, same: source.custom.id === id }));
    `);
    expect(error).toBe(undefined);
    expect(JSON.parse(content[0]?.text ?? "")).toEqual({
      output: 42,
      known: 1,
      failure: "tool_not_found,404",
      invalid: 400,
      removed: true,
      again: false,
      same: true,
    });
  });

  it("cannot be forged beyond the limits by code of the process", async () => {
    await repl("", { reset: true });
    const { content } = await repl(`
      const answers = [];
      process.on("message", (message) => { if (message.type === "answer" && message.id > 1e6) answers.push(message.error?.statusCode ?? "done"); });
      const forge = (id, method, params) => process.send({ type: "ask", id, method, params });
      forge(1e6 + 1, "addCustomTools", null);
      forge(1e6 + 2, "addCustomTools", { namespace: "a", force: false, tools: [{ kind: "page" }] });
      forge(1e6 + 3, "readSecrets", {});
      forge(1e6 + 4, "invokeTool", { tool_ref: 1 });
      process.send({ type: "answer", id: 99, value: "forged" });
      while (answers.length < 4) await waitMs(5);
      console.log(answers.join());
    `);
    expect(content[0]?.text).toBe("400,400,404,400\n");
    expect(await custom()).toEqual([]);
  });
});
