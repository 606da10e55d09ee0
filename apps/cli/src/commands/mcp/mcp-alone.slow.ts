import { eventually } from "@shoal/testkit";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, it } from "vitest";
import { connectMcp } from "../../testing/mcp-client.ts";
import { noChromium, shoal } from "../../testing/shoal.ts";

const missing = await noChromium();
const folder = mkdtempSync(join(tmpdir(), "shoal-mcp-alone-"));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

it.skipIf(missing)("starts no service before the first tool", async () => {
  const env = { HOME: folder, SHOAL_DATA_DIR: join(folder, "unused"), SHOAL_PLACEMENT: "process" };
  const client = await connectMcp([], env);
  expect(await client.toolNames()).toContain("navigate");
  await client.close();
  expect(existsSync(join(folder, "unused"))).toBe(false);
});

it.skipIf(missing)("ends with its service when the client goes while it starts", async () => {
  const env = { HOME: folder, SHOAL_DATA_DIR: join(folder, "left"), SHOAL_WARM: "0", SHOAL_PLACEMENT: "process" };
  const client = await connectMcp([], env);
  const opened = client.call("navigate", { url: "about:blank" }).catch(() => undefined);
  await eventually("the service starts", () => existsSync(join(folder, "left")));
  client.leave();
  await client.ended;
  await opened;
  expect((await shoal(["health"], { env })).status).toBe(9);
});

it.skipIf(missing)("runs a separate service where none is configured, and ends it with the client", async () => {
  const env = { HOME: folder, SHOAL_DATA_DIR: join(folder, "data"), SHOAL_WARM: "0", SHOAL_PLACEMENT: "process" };
  const client = await connectMcp([], env);
  const opened = await client.call("navigate", { url: "about:blank" });
  expect(opened).toMatchObject({ isError: false });
  const list = await shoal(["browsers", "list", "-o", "json"], { env });
  expect(JSON.parse(list.stdout)).toHaveLength(1);
  // A second client uses the same service.
  const second = await connectMcp([], env);
  expect(await second.call("navigate", { url: "about:blank" })).toMatchObject({ isError: false });
  expect(JSON.parse((await shoal(["browsers", "list", "-o", "json"], { env })).stdout)).toHaveLength(2);
  await second.close();
  expect(JSON.parse((await shoal(["browsers", "list", "-o", "json"], { env })).stdout)).toHaveLength(1);
  await client.close();
  expect((await shoal(["health"], { env })).status).toBe(9);
});
