import { Shoal } from "@shoal/client";
import { type FakeShoal, startFakeShoal } from "@shoal/testing";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createDeliveryServer } from "./server.ts";

// Runs the built command with the built plugin.
const here = fileURLToPath(new URL("..", import.meta.url));
const command = fileURLToPath(new URL("../../cli/dist/shoal.js", import.meta.url));
for (const built of [command, join(here, "dist/commands.js")])
  if (!existsSync(built))
    throw new Error(
      `${built} is missing. Build it first: pnpm exec turbo run build --filter @shoal/example-extension --filter @shoal/cli`,
    );

let fake: FakeShoal;
let app: ReturnType<typeof createDeliveryServer>;
let baseUrl = "";

beforeAll(async () => {
  fake = await startFakeShoal();
  app = createDeliveryServer({ shoalUrl: fake.baseUrl });
  baseUrl = await app.listen({ port: 0, host: "127.0.0.1" });
});
afterAll(async () => {
  await app.close();
  await fake.close();
});

async function shoal(...args: string[]): Promise<{ status: number; stdout: string; stderr: string }> {
  const { HOME = "", PATH = "" } = process.env;
  const env = {
    HOME,
    PATH,
    NO_COLOR: "1",
    SHOAL_CONFIG_DIR: join(tmpdir(), "shoal-no-config"),
    SHOAL_PLUGINS: "@shoal/example-extension/commands",
    SHOAL_BASE_URL: baseUrl,
    SHOAL_API_KEY: fake.apiKey,
  };
  try {
    return { status: 0, ...(await promisify(execFile)(process.execPath, [command, ...args], { cwd: here, env })) };
  } catch (error) {
    // The error of `execFile` for a non-zero status.
    const { code, stderr, stdout } = error as { code: number; stdout: string; stderr: string };
    return { status: code, stdout, stderr };
  }
}

it("joins the commands of shoal", async () => {
  expect((await shoal("--help")).stdout).toContain("deliveries");
  const { stdout } = await shoal("deliveries", "create", "--help");
  expect(stdout).toContain("Usage: shoal deliveries create");
  for (const part of ["<browser>", "<path>", "--note <text>", "--output"]) expect(stdout).toContain(part);
});

it("works on the team's server with the connection and the output of shoal", async () => {
  const client = new Shoal({ apiKey: fake.apiKey, baseUrl: fake.baseUrl });
  const { session_id: browserId } = await client.browsers.create({ name: "orders" });
  await client.browsers.fs.writeFile(browserId, "hello", { path: "/home/shoal/Downloads/a.txt" });
  const created = await shoal(
    "deliveries",
    "create",
    "orders",
    "/home/shoal/Downloads/a.txt",
    "--note",
    "the invoice",
    "-o",
    "json",
  );
  expect(created).toMatchObject({ status: 0, stderr: "" });
  const { id, ...delivery } = JSON.parse(created.stdout) as { id: string };
  expect(delivery).toMatchObject({ path: "/home/shoal/Downloads/a.txt", size_bytes: 5, note: "the invoice" });
  const listed = await shoal("deliveries", "list");
  expect(listed.stdout.split("\n").slice(0, 2)).toEqual([
    expect.stringMatching(/ID +BROWSER +PATH/i),
    expect.stringContaining(id),
  ]);
  expect((await shoal("deliveries", "list", "--query", "[0].size_bytes", "-o", "json")).stdout.trim()).toBe("5");
  expect(await shoal("deliveries", "read", id)).toEqual({ status: 0, stdout: "hello", stderr: "" });
});

it("reports errors like shoal", async () => {
  const { status, stderr, stdout } = await shoal("deliveries", "read", "nowhere");
  expect([status === 0, stdout]).toEqual([false, ""]);
  expect(stderr).toContain("Delivery nowhere was not found");
  expect((await shoal("deliveries", "create", "orders")).stderr).toContain("path");
});
