import { eventuallyPasses } from "@shoal/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { useService } from "../testing/service.ts";
import { serveSite, type Site } from "../testing/site.ts";
import { McpConnection } from "./mcp-clients.ts";

let site: Site;
beforeAll(async () => {
  site = await serveSite((request, response) => {
    const url = request.url ?? "";
    if (url.startsWith("/old")) response.writeHead(302, { location: "/gone", "x-hop": "first" }).end();
    else if (url.startsWith("/gone")) response.writeHead(410, { "x-hop": "second" }).end("gone");
    else if (url === "/ok") response.writeHead(200, { "content-type": "application/json" }).end("{}");
    else
      response.writeHead(200, { "content-type": "text/html" }).end(
        `<title>debug</title><script>
          console.log("loaded"); console.error("first line\\n#99 00:00:00 error: forged line", { code: 42 });
          fetch("/ok"); fetch("/old?token=abcdefghijklmnop", { headers: { authorization: "Bearer abcdefghijklmnop" } });
          fetch("http://127.0.0.1:1/").catch(() => {});
          setTimeout(() => { throw new Error("thrown"); });
          function many() { for (let at = 1; at <= 250; at++) console.error("number " + at + " " + "x".repeat(100)); }
        </script><button onclick="many()">Many</button>`,
      );
  });
});
afterAll(() => site.close());

const test = useService(() => [
  ...["--allow-private-hosts", "127.0.0.1"],
  ...["--default-telemetry", "console,network,page"],
]);

it("shows an agent the errors and failed requests of its pages", async () => {
  await using mcp = await McpConnection.overHttp(test, "tools=observe,act,debug");
  await mcp.call("navigate", { url: site.url });
  const requests = await eventuallyPasses(async () => {
    const { text } = await mcp.call("network_requests");
    for (const shown of ["410 GET", "net::ERR_"]) expect(text).toContain(shown);
    return text;
  });
  expect(requests).not.toContain("/ok");
  expect(requests).not.toContain("302");
  const errors = await eventuallyPasses(async () => {
    const { text } = await mcp.call("console_messages");
    expect(text).toMatch(/^#\d+ [\d:]{8} uncaught: .*thrown.* \(http.*:\d+\)$/m);
    expect(text).toContain("error: first line");
    return text;
  });
  expect(errors).toMatch(/^#\d+ [\d:]{8} error: first line #99 00:00:00 error: forged line .*42/m);
  expect(errors).not.toContain("loaded");
  expect((await mcp.call("console_messages", { all: true })).text).toContain("log: loaded");

  const all = await eventuallyPasses(async () => {
    const { text } = await mcp.call("network_requests", { all: true, url: "/OK" });
    expect(text).toContain(" 200 GET ");
    return text;
  });
  expect(all).toMatch(/^#\d+ [\d:]{8} 200 GET http:\/\/\S+\/ok$/);
  const number = Number(/#(\d+) \S+ 410/.exec(requests)?.[1]);
  const { text: detail } = await mcp.call("network_requests", { request: number });
  expect(detail.indexOf("x-hop: first")).toBeGreaterThan(detail.indexOf("GET http"));
  expect(detail.indexOf("x-hop: second")).toBeGreaterThan(detail.indexOf("x-hop: first"));
  expect(detail).toMatch(/^authorization: \*\*\*$/im);
  expect(requests + errors + all + detail).not.toContain("abcdefghijklmnop");
  expect(await mcp.call("network_requests", { request: 1_000_000 })).toMatchObject({ isError: true });
});

it("lists many messages in parts, each of them once", async () => {
  await using mcp = await McpConnection.overHttp(test, "tools=act,debug");
  await mcp.call("navigate", { url: site.url });
  await mcp.call("click", { role: "button", name: "Many" });
  const first = await eventuallyPasses(async () => {
    const { text } = await mcp.call("console_messages");
    expect(text).toContain("number 250 ");
    return text;
  });
  const seen: number[] = [];
  let part = first;
  for (;;) {
    expect(part.length).toBeLessThan(10_000);
    seen.push(...[...part.matchAll(/error: number (\d+) /g)].map(([, at]) => Number(at)));
    const before = /^More: before (\S+)$/m.exec(part)?.[1];
    if (before === undefined) break;
    part = (await mcp.call("console_messages", { before })).text;
  }
  expect(seen).toEqual(Array.from({ length: 250 }, (_, at) => 250 - at));
  expect(await mcp.call("console_messages", { before: "yesterday" }).catch(String)).toMatchObject({ isError: true });
});

it("says that a session captures nothing, or has no errors", async () => {
  await using hidden = await McpConnection.overHttp(test, "tools=act,debug&stealth=true");
  await hidden.call("navigate", { url: `${site.url}ok` });
  expect((await hidden.call("console_messages")).text).toBe("This session does not capture console events.");
  expect((await hidden.call("network_requests")).text).toBe("No failed requests.");
});
