import type { PageToolResult, PageTools } from "@shoal/schemas";
import { describe, expect, it } from "vitest";
import { describeChromium } from "../../../testing/chromium.ts";
import { ActingSession, type Refused } from "../testing/acting-session.ts";

const register = (...tools: string[]): string =>
  `<title>Tools</title><script>${tools.map((tool) => `document.modelContext.registerTool(${tool});`).join("")}</script>`;
const add = `{ name: "add", description: "Add", inputSchema: { type: "object", properties: { a: { type: "number" }, b: { type: "number" } } },
  annotations: { readOnlyHint: true, consequentialHint: true },
  execute: ({ a, b }) => ({ content: [{ type: "text", text: String(a + b) }] }) }`;

describeChromium("tools of a page", (chromium) => {
  const session = new ActingSession(chromium);
  const post = async (path: string, body: object): Promise<unknown> => {
    const { status, text } = await session.instance.call("POST", path, JSON.stringify(body));
    const answer = JSON.parse(text) as object;
    return status === 200 ? answer : { ...answer, status };
  };
  const list = async () => (await post("/tools/list", {})) as PageTools;
  const call = async (name: string, args: object = {}, rest: object = {}) =>
    (await post("/tools/call", { name, arguments: args, ...rest })) as PageToolResult & Refused;

  describe("in a list", () => {
    it("shows those of scripts and forms, with schemas, hints and origins", async () => {
      session.page("/inner", register(`{ name: "inner", description: "In a frame", execute: () => 1 }`));
      await session.show(`${register(add)}<form toolname="search" tooldescription="Search the shop" action="/found">
        <input name="q" required toolparamdescription="Words"></form><iframe src="/inner"></iframe>`);
      const { left_out, tab, title, tools } = await list();
      expect({ left_out, tab, title }).toEqual({ left_out: 0, tab: "t1", title: "Tools" });
      const origin = session.url("").replace(/\/$/, "");
      expect(tools).toMatchObject([
        { name: "add", origin, main_frame: true, read_only: true, consequential: true },
        {
          name: "search",
          description: "Search the shop",
          input_schema: { type: "object", properties: { q: { description: "Words" } }, required: ["q"] },
        },
        { name: "inner", origin, main_frame: false },
      ]);
    });

    it("keeps the limits for a page that registers too much", async () => {
      await session.show(`<script>const names = []; for (let i = 0; i < 250; i++)
        document.modelContext.registerTool({ name: "tool_" + i, description: "x".repeat(9000), execute: () => i,
          inputSchema: { type: "object", description: "y".repeat(40000) } });</script>`);
      const { left_out, tools } = await list();
      expect(tools.length + left_out).toBe(250);
      expect(JSON.stringify(tools).length).toBeLessThan(501_000);
      expect(tools[0]).toMatchObject({ description: "x".repeat(4000) });
      expect(tools[0]).not.toHaveProperty("input_schema");
    });

    it("contains only those of the present document", async () => {
      await session.show(register(add));
      await session.show("<title>Empty</title>");
      expect((await list()).tools).toEqual([]);
    });
  });

  describe("in a call", () => {
    it("return the page's value, also of forms that navigate", async () => {
      session.page("/found", "<title>Found</title>");
      await session.show(`${register(add, `{ name: "no", description: "x", execute: () => ({ isError: true }) }`)}
        <form toolname="search" tooldescription="Search" toolautosubmit action="/found"><input name="q"></form>`);
      expect(await call("add", { a: 1, b: 41 })).toMatchObject({
        name: "add",
        result: { content: [{ type: "text", text: "42" }] },
        is_error: false,
        title: "Tools",
      });
      expect(await call("no")).toMatchObject({ is_error: true });
      await call("search", { q: "herring" });
      await session.done({ type: "wait_for", url: "*/found?q=herring" });
    });

    it("report an unknown name, an exception, and a result that is too large or nested too deeply", async () => {
      await session.show(
        register(
          add,
          `{ name: "boom", description: "x", execute() { throw new Error("out of herring") } }`,
          `{ name: "large", description: "x", execute: () => "x".repeat(1_000_001) }`,
          `{ name: "deep", description: "x", execute() { let v = 1; for (let i = 0; i < 2000; i++) v = [v]; return v } }`,
        ),
      );
      expect(await call("plus")).toMatchObject({ status: 404, code: "tool_not_found", field: "body.name" });
      expect((await call("plus")).message).toContain(`"add", "boom"`);
      expect(await call("boom")).toMatchObject({ status: 409, code: "tool_failed" });
      expect((await call("boom")).message).toContain(`The tool "boom" failed: "Error: out of herring"`);
      expect(await call("large")).toMatchObject({ status: 409, code: "tool_failed" });
      expect(await call("deep")).not.toMatchObject({ result: [[[]]] });
      expect(await call("add", { a: 1, b: 1 })).toMatchObject({ is_error: false });
    });

    it("end at their time limit, and when the caller leaves", async () => {
      await session.show(
        register(`{ name: "hang", description: "x", execute(input, client) { return new Promise(() => {}) } }`),
      );
      expect(await call("hang", {}, { timeout_seconds: 1 })).toMatchObject({ status: 409, code: "tool_timeout" });
      await session.show(register(add));
      expect(await call("add", { a: 2, b: 2 })).toMatchObject({ is_error: false });
    });

    it("answer dialog_open at once when the tool asks a person, and go on afterwards", async () => {
      await session.show(
        register(
          `{ name: "ask", description: "x", execute() { document.title = confirm("Buy?") ? "bought" : "kept" } }`,
        ),
      );
      const asked = await call("ask");
      expect(asked).toMatchObject({ status: 409, code: "dialog_open" });
      expect(asked.message).toContain(`(confirm: "Buy?")`);
      expect(await call("ask")).toMatchObject({ status: 409, code: "dialog_open" });
      const answered = await session.done({ type: "answer_dialog", accept: true });
      expect(answered.title).toBe("bought");
    });

    it("prefer the page itself, and need an origin for frames of several origins", async () => {
      const where = (name: string) => register(`{ name: "where", description: "x", execute: () => "${name}" }`);
      session.page("/a", where("a"));
      session.page("/b", where("b"));
      const other = session.url("/b", "localhost");
      const frames = `<iframe src="/a"></iframe><iframe allow="tools" src="${other}"></iframe>`;
      await session.show(`${where("page")}${frames}`);
      expect(await call("where")).toMatchObject({ result: "page" });
      await session.show(frames);
      await expect.poll(async () => (await list()).tools).toHaveLength(2);
      const ambiguous = await call("where");
      expect(ambiguous).toMatchObject({ status: 409, code: "ambiguous_target", field: "body.origin" });
      const { origin } = new URL(other);
      expect(ambiguous.message).toContain(origin);
      expect(await call("where", {}, { origin })).toMatchObject({ result: "b", origin });
    });
  });
});
