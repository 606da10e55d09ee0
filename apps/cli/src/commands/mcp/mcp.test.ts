import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { connectMcp, type McpClient } from "../../testing/mcp-client.ts";

const home = mkdtempSync(join(tmpdir(), "shoal-mcp-"));
let client: McpClient | undefined;
afterEach(async () => {
  await client?.close();
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

it("answers a client whose service is not known, and names the setting", async () => {
  client = await connectMcp(["--context", "nowhere"], { SHOAL_DATA_DIR: join(home, "data") });
  const { isError, text } = await client.call("navigate", { url: "https://example.com" });
  expect({ isError, text }).toMatchObject({ isError: true, text: expect.stringContaining("nowhere") as unknown });
});
