import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { connectMcp, type McpClient } from "../../testing/mcp-client.ts";

const home = mkdtempSync(join(tmpdir(), "shoal-mcp-"));
let client: McpClient | undefined;
const cleanup: (() => void)[] = [];
afterEach(async () => {
  await client?.close();
  for (const close of cleanup.splice(0)) close();
  rmSync(home, { recursive: true, force: true });
});

it("answers a client without a key, and its tools say what to do", async () => {
  const env = { SHOAL_BASE_URL: "https://shoal.example", SHOAL_DATA_DIR: join(home, "data") };
  client = await connectMcp([], env);
  expect(await client.toolNames()).toContain("navigate");
  const { isError, text } = await client.call("navigate", { url: "https://example.com" });
  expect(isError).toBe(true);
  expect(text).toContain("API key is missing.");
  expect(text).toContain("shoal login");
});

it("sends the requests to a service whose URL is not in its normal form", async () => {
  const paths: string[] = [];
  const server = createServer((request, response) => {
    paths.push(request.url ?? "");
    response
      .writeHead(400, { "content-type": "application/json" })
      .end('{"code":"bad_request","message":"refused here"}');
  });
  cleanup.push(() => server.close());
  await once(server.listen(0, "127.0.0.1"), "listening");
  const { port } = server.address() as AddressInfo;
  const env = {
    SHOAL_BASE_URL: `http://127.0.0.1:${String(port)}/base/./`,
    SHOAL_API_KEY: "sk_test_0123456789",
    SHOAL_DATA_DIR: join(home, "data"),
  };
  client = await connectMcp([], env);
  expect((await client.call("navigate", { url: "https://example.com" })).text).toContain("refused here");
  expect(paths.length).toBeGreaterThan(0);
  expect(paths.filter((path) => !/^\/base\/(?:browsers|auth\/context)(?:\?|$)/.test(path))).toEqual([]);
});

it("answers a client whose service is not known, and names the setting", async () => {
  client = await connectMcp(["--context", "nowhere"], { SHOAL_DATA_DIR: join(home, "data") });
  const { isError, text } = await client.call("navigate", { url: "https://example.com" });
  expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining("nowhere") as unknown });
});
