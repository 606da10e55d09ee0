import { Client } from "@modelcontextprotocol/client";
import { createBrowser, type Endpoint } from "@shoal/contract";
import { eventually, eventuallyPasses } from "@shoal/testkit";
import { InMemoryTransport } from "@modelcontextprotocol/server";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, expect, it, onTestFinished, vi } from "vitest";
import { OwnBrowser } from "../browser/own-browser.ts";
import { PretendService } from "../testing/pretend-service.ts";
import { createServer } from "./create-server.ts";
import { readSettings } from "./settings.ts";

afterEach(async () => {
  for (const close of closing.splice(0)) await close();
});
const closing: (() => Promise<void>)[] = [];

async function connect(
  given: Readonly<Record<string, string>> = {},
  withState = true,
  mayCall?: (operation: Endpoint) => boolean,
) {
  const settings = readSettings(given);
  if ("problem" in settings) throw new Error(settings.problem);
  const service = new PretendService();
  const { transport } = service;
  const own = withState ? new OwnBrowser(transport, settings.browser, settings.session) : undefined;
  const server = createServer({ transport, settings, own, version: "1.2.3", mayCall });
  const [near, far] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: "test", version: "1" });
  await server.connect(near);
  await client.connect(far);
  closing.push(() => client.close());
  const call = async (name: string, args: Record<string, unknown> = {}) => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
    const text = content.map((part) => (part.type === "text" ? part.text : part.type)).join("\n");
    return { text, isError: isError ?? false, structured: structuredContent };
  };
  return { call, client, own, service };
}

it("starts one browser for concurrent first calls, and uses it for all", async () => {
  const { call, service } = await connect();
  const answers = await Promise.all([call("snapshot"), call("snapshot"), call("navigate", { url: "http://a.test" })]);
  expect(answers.map(({ isError }) => isError)).toEqual([false, false, false]);
  expect(service.created).toEqual([{ timeout_seconds: 600 }]);
  expect(answers[0].text).toMatch(
    /^session00000000000000001 — http:\/\/site.test\/session00000000000000001\nPage:\nbutton "of session00000000000000001" \[e1\]/,
  );
  const news = answers.filter(({ text }) =>
    text.includes("This connection opened a new browser, session00000000000000001,"),
  );
  expect(news).toHaveLength(1);
  expect((await call("snapshot")).text).toBe(
    'session00000000000000001 — http://site.test/session00000000000000001\nPage:\nbutton "of session00000000000000001" [e1]',
  );
  expect(answers[0].structured).toMatchObject({ title: "session00000000000000001", tokens: 5 });
});

it("lists only tools and resources whose operations the caller may call", async () => {
  const named = async (given: Readonly<Record<string, string>>, withState: boolean, allowed: RegExp) => {
    const { client } = await connect(given, withState, ({ operationId }) => allowed.test(operationId));
    return (await client.listTools()).tools.map(({ name }) => name);
  };
  const all = { tools: "observe,act,read,screenshot,files,processes,sessions,profiles,handoff" };
  expect(await named(all, true, /^browsers\.(?:create|read|pdf)$/)).toEqual(["open_browser", "read"]);
  expect(await named(all, true, /^browsers\.(?:create|pdf|fs\.writeFile)$/)).toEqual([
    "open_browser",
    "pdf",
    "write_file",
  ]);
  // Without the right to start a browser, tools need the session of the connection, or one in their input.
  expect(await named(all, true, /^browsers\.(?:list|observe)$/)).toEqual(["list_browsers"]);
  expect(await named({ ...all, session: "s1" }, true, /^browsers\.observe$/)).toEqual(["snapshot"]);
  expect(await named(all, false, /^browsers\.observe$/)).toEqual(["snapshot"]);
  const { client } = await connect({ ...all, session: "s1" }, true, () => false);
  expect((await client.listTools()).tools).toEqual([]);
  expect((await client.listResources()).resources).toEqual([]);
});

it("returns the changes of the page after an action, within the limit of the connection", async () => {
  const { call, service } = await connect({ outline_tokens: "500" });
  const { text } = await call("navigate", { url: "http://a.test" });
  expect(text).toContain("Navigated\nsession00000000000000001 — http://site.test/session00000000000000001");
  expect(service.actions[0]).toMatchObject({ type: "navigate", observe: { diff: true, max_tokens: 500 } });
  const silent = await connect({ outline_tokens: "0" });
  await silent.call("click", { ref: "e1" });
  expect(silent.service.actions[0]).not.toHaveProperty("observe");
});

it("answers with text only on request", async () => {
  const { call, client } = await connect({ structured: "false" });
  expect(await call("snapshot")).toMatchObject({
    text: expect.stringContaining('button "of session00000000000000001" [e1]') as string,
    structured: undefined,
  });
  const { tools } = await client.listTools();
  expect(tools.filter(({ outputSchema }) => outputSchema !== undefined)).toEqual([]);
});

it("costs a model at most 3,500 tokens with the default tools", async () => {
  const { client } = await connect();
  // Hosts give models these fields, but not the schemas of answers.
  const tools = (await client.listTools()).tools.map(({ name, description, inputSchema }) => ({
    name,
    description,
    input_schema: inputSchema,
  }));
  const tokens = countTokens(JSON.stringify(tools)) + countTokens(client.getInstructions() ?? "");
  expect(tokens).toBeLessThanOrEqual(3_500);
  // A test that counts too little would pass as well.
  expect(tokens).toBeGreaterThan(2_000);
});

it("lists tools in at most 32 kB, and describes the parts of an answer once", async () => {
  const { call, client } = await connect();
  const { tools } = await client.listTools();
  expect(JSON.stringify(tools).length).toBeLessThanOrEqual(32_000);
  const schemaOf = (name: string): object => tools.find((tool) => tool.name === name)?.outputSchema ?? {};
  const whole = { type: "object", properties: { ref: { type: "string" } } };
  expect(schemaOf("navigate")).toMatchObject({ properties: { element: whole, observation: { type: "object" } } });
  expect(schemaOf("click")).toMatchObject({ properties: { element: { type: "object" }, new_tabs: { type: "array" } } });
  expect(schemaOf("click")).not.toHaveProperty("properties.element.properties");
  expect(schemaOf("click")).not.toHaveProperty("properties.new_tabs.items.properties");
  expect(schemaOf("click")).toHaveProperty("properties.downloads", { type: "array", items: { type: "string" } });
  const names = ["tab", "url", "title", "navigated", "new_tabs", "downloads", "failed_requests", "settled"];
  for (const name of ["navigate", "click"]) expect(schemaOf(name)).toHaveProperty("required", names);
  // The client checks the answer by this schema.
  expect((await call("click", { ref: "e1" })).structured).toMatchObject({ settled: true });
});

it("answers errors with code, message and the next step in terms of tools", async () => {
  const { call, client } = await connect();
  const problem = "stale_reference: The element e404 was removed. Observe the page again with snapshot.";
  const first = await call("click", { ref: "e404" });
  expect(first).toMatchObject({ isError: true, text: expect.stringContaining(problem) as string });
  expect(first.text).toContain("opened a new browser, session00000000000000001,");
  expect(await call("click", { ref: "e404" })).toMatchObject({ isError: true, text: problem });
  const { _meta } = await client.callTool({ name: "click", arguments: { ref: "e404" } });
  expect(_meta).toMatchObject({ "shoal/error": { code: "stale_reference" } });
});

it.each([
  ["a misspelled field", { reference: "e1" }, "unknown field reference; this tool has ref, role, name"],
  ["a wrong form", { ref: "button" }, "ref: must match"],
  ["a wrong type", { click_count: "two" }, "click_count: must be of type"],
  ["a number above the limit", { click_count: 7 }, "click_count: must be at most 3"],
])("refuses %s before a browser starts", async (_what, args, problem) => {
  const { call, service } = await connect();
  const answer = await call("click", args);
  expect(answer).toMatchObject({ isError: true });
  expect(answer.text).toContain(problem);
  expect(service.created).toEqual([]);
});

it("reports an ended browser, and starts another for the next call", async () => {
  const { call, service } = await connect();
  await call("snapshot");
  service.end("session00000000000000001");
  const ended = await call("snapshot");
  expect(ended).toMatchObject({ isError: true });
  expect(ended.text).toContain("browser_ended: The browser session00000000000000001 has ended (timeout).");
  expect((await call("snapshot")).text).toContain("session00000000000000002");
});

it("replaces the browser when the model opens one with options, and ends it on request", async () => {
  const { call, service } = await connect();
  await call("snapshot");
  const opened = await call("open_browser", { stealth: true });
  expect(opened.structured).toMatchObject({ session: "session00000000000000002" });
  expect(JSON.stringify(opened)).not.toContain("secret");
  expect(service.running()).toEqual(["session00000000000000002"]);
  expect(service.created[1]).toEqual({ timeout_seconds: 600, stealth: true });
  await call("close_browser");
  expect(service.running()).toEqual([]);
});

it("does not let a model choose a profile without the group profiles", async () => {
  const without = await connect();
  expect(await without.call("open_browser", { profile: "shopping" })).toMatchObject({ isError: true });
  const { call, service } = await connect({ tools: "observe,profiles" });
  await call("open_browser", { profile: "shopping", save_changes: true });
  expect(service.created[0]).toMatchObject({ profile: { name: "shopping", save_changes: true } });
});

it("does not end a session that it was attached to", async () => {
  const other = await connect();
  await other.call("snapshot");
  const { call, own, service } = await connect({ session: "session00000000000000001" });
  expect((await call("snapshot")).text).toContain("not_found");
  await own?.close();
  expect(service.created).toEqual([]);
});

it("requires a session in connections without state", async () => {
  const { call, client, service } = await connect({}, false);
  const { tools } = await client.listTools();
  const snapshot = tools.find(({ name }) => name === "snapshot");
  expect(snapshot?.inputSchema.required).toEqual(["session"]);
  expect((await call("snapshot")).text).toContain("session: is missing");
  const { structured } = await call("open_browser");
  const { session } = structured as { session: string };
  expect((await call("snapshot", { session })).text).toContain(session);
  await call("close_browser", { session });
  expect(service.running()).toEqual([]);
  expect((await call("snapshot", { session })).text).toContain("Call open_browser.");
});

it("offers the selected groups only", async () => {
  const { client } = await connect({ tools: "observe,screenshot" });
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toEqual(["open_browser", "close_browser", "snapshot", "screenshot"]);
  await expect(client.callTool({ name: "run", arguments: { command: "id" } })).rejects.toThrow("run");
});

it("marks reading and destructive tools", async () => {
  const { client } = await connect({ tools: "all" });
  const { tools } = await client.listTools();
  const named = (test: (annotations: object) => boolean) =>
    tools.filter(({ annotations }) => test(annotations ?? {})).map(({ name }) => name);
  expect(named((annotations) => "readOnlyHint" in annotations && annotations.readOnlyHint === true)).toEqual([
    "snapshot",
    "wait_for",
    "read",
    "screenshot",
    "list_page_tools",
    "list_files",
    "read_file",
    "console_messages",
    "network_requests",
    "render",
    "search",
    "list_browsers",
    "list_profiles",
    "list_flows",
  ]);
  expect(named((annotations) => "destructiveHint" in annotations && annotations.destructiveHint === true)).toEqual([
    "close_browser",
    "write_file",
    "run",
    "evaluate",
    "save_profile",
  ]);
});

it("returns pictures as images", async () => {
  const { call, client } = await connect();
  await call("snapshot");
  const { content } = await client.callTool({ name: "screenshot", arguments: {} });
  expect(content).toEqual([{ type: "image", data: Buffer.from("picture").toString("base64"), mimeType: "image/jpeg" }]);
});

it("aborts the request of a cancelled call", async () => {
  const { client, service } = await connect({ tools: "processes" });
  const held = Promise.withResolvers<undefined>();
  service.holding = held.promise;
  const abort = new AbortController();
  const call = client.callTool({ name: "run", arguments: { command: "sleep 60" } }, { signal: abort.signal });
  const failed = expect(call).rejects.toThrow();
  await eventuallyPasses(() => {
    expect(service.running()).toHaveLength(1);
  });
  abort.abort();
  await failed;
  await eventuallyPasses(() => {
    expect(service.aborted).toBe(1);
  });
  held.resolve(undefined);
});

it("reports the progress of a long call", async () => {
  const { client, service } = await connect({ tools: "processes" });
  const held = Promise.withResolvers<undefined>();
  service.holding = held.promise;
  vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] });
  onTestFinished(() => {
    vi.useRealTimers();
  });
  const messages: (string | undefined)[] = [];
  const answered = client.callTool(
    { name: "run", arguments: { command: "sleep 60" } },
    {
      onprogress: ({ message }) => {
        messages.push(message);
        held.resolve(undefined);
      },
    },
  );
  await eventually("the progress", () => {
    vi.advanceTimersByTime(500);
    return messages.length > 0;
  });
  const answer = await answered;
  expect(answer.isError).not.toBe(true);
  expect(messages[0]).toMatch(/^Run a command, \d+ s$/);
});

it("reads resources of the own session only, without its secrets", async () => {
  const { call, client, service } = await connect();
  expect((await client.listResources()).resources).toEqual([]);
  await call("snapshot");
  await service.transport.call(createBrowser, { body: {} });
  const { contents } = await client.readResource({ uri: "shoal://browsers/session00000000000000001" });
  expect(contents[0]).toMatchObject({ mimeType: "application/json" });
  expect(JSON.stringify(contents)).not.toContain("secret");
  await expect(client.readResource({ uri: "shoal://browsers/session00000000000000002" })).rejects.toThrow(
    "own session only",
  );
});
