import { createMCPClient } from "@ai-sdk/mcp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { McpConnection, type Revision } from "./mcp-clients.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite();
});
afterAll(() => site.close());

const callers = 20;
const test = useService(() => [
  "--allow-private-hosts",
  site.host,
  "--max-sessions",
  "40",
  "--max-sessions-per-project",
  "40",
]);
const running = async () => (await test.shoal.browsers.list()).items.map(({ session_id }) => session_id);

describe("over stdio", () => {
  it.each<Revision>(["with sessions", "newest"])(
    "starts a browser on first use and ends it with the client (revision %s)",
    async (revision) => {
      {
        await using mcp = await McpConnection.overStdio(test, ["--tools", "all"], revision);
        expect(mcp.client.getNegotiatedProtocolVersion()).toBe(revision === "newest" ? "2026-07-28" : "2025-11-25");
        expect(await running()).toEqual([]);
        await mcp.call("write_file", { path: "/home/shoal/Downloads/a.txt", content: "hello" });
        expect((await mcp.call("run", { command: "cat ~/Downloads/a.txt" })).structured).toMatchObject({
          exit_code: 0,
          stdout: "hello",
        });
        expect(await running()).toHaveLength(1);
        const { resources } = await mcp.client.listResources();
        const file = resources.find(({ name }) => name === "a.txt");
        expect((await mcp.client.readResource({ uri: file?.uri ?? "" })).contents).toMatchObject([{ text: "hello" }]);
      }
      await expect.poll(running).toEqual([]);
    },
  );

  it("uses a running session with --session, and does not end it", async () => {
    await using session = await test.shoal.browsers.create({ name: "attached" });
    {
      await using mcp = await McpConnection.overStdio(test, ["--session", "attached"]);
      expect((await mcp.call("list_files", { path: "/home/shoal" })).isError).toBe(false);
      expect((await mcp.call("close_browser")).text).toContain("no own browser");
    }
    expect(await running()).toEqual([session.session_id]);
  });

  it("explains that the service is unreachable", async () => {
    const { apiKey } = test.service;
    const gone = { ...test, service: { ...test.service, apiKey, baseUrl: "http://127.0.0.1:9" } };
    await using mcp = await McpConnection.overStdio(gone);
    const answer = await mcp.call("snapshot");
    expect(answer).toMatchObject({ isError: true });
    expect(answer.text).toContain("connection_failed");
    expect(answer.text).toContain("shoal serve");
  });
});

describe("pages", () => {
  it("opens, outlines and operates a page, and returns the changes", async () => {
    await using mcp = await McpConnection.overStdio(test, ["--tools", "all"]);
    const form = `<title>form</title><label>Name <input></label><button onclick="document.title = 'hello ' + document.querySelector('input').value; this.after(document.title)">Greet</button>`;
    await mcp.call("evaluate", { code: `await page.setContent(${JSON.stringify(form)})` });
    const snapshot = await mcp.call("snapshot");
    const ref = /textbox "Name".*?\[?(e\d+)/.exec(snapshot.text)?.[1];
    expect(ref, snapshot.text).toBeDefined();
    expect(await mcp.call("fill", { ref, text: "Ada" })).toMatchObject({ isError: false });
    const clicked = await mcp.call("click", { role: "button", name: "Greet" });
    expect(clicked.text).toContain("hello Ada");
    expect(clicked.structured).toMatchObject({ title: "hello Ada", settled: true });
    const missing = await mcp.call("click", { ref: "e99999", timeout_ms: 0 }).catch(String);
    expect(missing).toMatchObject({ isError: true });
    expect((await mcp.call("screenshot", { labels: true })).text).toBe("image");
    expect((await mcp.call("read", { content: "all" })).text).toContain("hello Ada");
    expect((await mcp.call("pdf")).text).toMatch(
      /^Wrote \/home\/shoal\/Downloads\/page\.pdf \(\d+ bytes\)\.\nresource_link$/,
    );
    const { resources } = await mcp.client.listResources();
    expect(resources.map(({ name }) => name)).toContain("page.pdf");
  });

  it("reports a navigation with its status and its page", async () => {
    await using mcp = await McpConnection.overHttp(test, "tools=act,observe");
    const { structured, text } = await mcp.call("navigate", { url: `${site.url}welcome` });
    expect(structured).toMatchObject({ navigated: true, status: 200, title: "/welcome" });
    expect(text).toContain("hello");
  });
});

describe("over HTTP", () => {
  it(`keeps the pages of ${String(callers)} concurrent callers apart`, async () => {
    const one = async (caller: number) => {
      const path = `caller-${String(caller)}-${crypto.randomUUID()}`;
      const revision: Revision = caller % 2 === 0 ? "with sessions" : "newest";
      await using mcp = await McpConnection.overHttp(test, "tools=act,observe,read", { revision });
      const given = revision === "newest" ? { session: (await mcp.call("open_browser")).structured.session } : {};
      const answers = [await mcp.call("navigate", { ...given, url: site.url + path })];
      for (const tool of ["snapshot", "read", "snapshot", "reload"]) answers.push(await mcp.call(tool, given));
      if (revision === "newest") await mcp.call("close_browser", given);
      return { path, answers };
    };
    const seen = await Promise.all(Array.from({ length: callers }, (_, caller) => one(caller)));
    for (const { answers, path } of seen)
      for (const { isError, structured, text } of answers) {
        expect(isError, text).toBe(false);
        expect(structured).toMatchObject({ title: `/${path}`, url: site.url + path });
        expect(text.match(/caller-\d+-[\w-]+/g)?.filter((seenPath) => seenPath !== path)).toEqual([]);
      }
    await expect.poll(running).toEqual([]);
  });

  it("refuses a session of another key, and of another project", async () => {
    await using mcp = await McpConnection.overHttp(test, "tools=files");
    await mcp.call("list_files", { path: "/" });
    const project = await test.shoal.projects.create({ name: "other" });
    const keys = await Promise.all([
      test.shoal.apiKeys.create({ name: "second" }),
      test.shoal.apiKeys.create({ name: "third", project_id: project.id }),
    ]);
    const statuses = await Promise.all(
      [test.service.apiKey, ...keys.map(({ key }) => key)].map(async (key) => {
        const answer = await fetch(`${test.service.baseUrl}/mcp`, {
          method: "POST",
          headers: {
            authorization: `Bearer ${key}`,
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            "mcp-session-id": mcp.http?.sessionId ?? "",
          },
          body: JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" }),
        });
        await answer.text();
        return answer.status;
      }),
    );
    expect(statuses).toEqual([200, 404, 404]);
  });

  it("ends a command whose call is cancelled", async () => {
    await using mcp = await McpConnection.overHttp(test, "tools=processes");
    await mcp.call("run", { command: "true" });
    const abort = new AbortController();
    const call = mcp.client.callTool(
      { name: "run", arguments: { command: "exec sleep 3607" } },
      { signal: abort.signal },
    );
    const failed = expect(call).rejects.toThrow();
    const sleeps = async () => (await mcp.call("run", { command: "pgrep -xc sleep || true" })).structured.stdout;
    await expect.poll(sleeps).toBe("1\n");
    abort.abort();
    await failed;
    await expect.poll(sleeps).toBe("0\n");
  });

  it("serves the MCP client of the AI SDK", async () => {
    const client = await createMCPClient({
      transport: {
        type: "http",
        url: `${test.service.baseUrl}/mcp?tools=files`,
        headers: { authorization: `Bearer ${test.service.apiKey}` },
      },
    });
    try {
      const tools = await client.tools();
      const use = async (name: "open_browser" | "read_file" | "write_file", input: object) => {
        const tool = tools[name];
        if (tool === undefined) throw new Error(`The tool ${name} is missing.`);
        const answer: unknown = await tool.execute(input, { toolCallId: name, messages: [] } as never);
        return answer as { readonly structuredContent?: { readonly session?: string } };
      };
      const session = (await use("open_browser", {})).structuredContent?.session;
      await use("write_file", { session, path: "/home/shoal/note.txt", content: "from the AI SDK" });
      const read = await use("read_file", { session, path: "/home/shoal/note.txt" });
      expect(JSON.stringify(read)).toContain("from the AI SDK");
    } finally {
      await client.close();
    }
  });
});
