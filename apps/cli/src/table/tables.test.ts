import { expect, it } from "vitest";
import { type Printing, printResult } from "../output/print-result.ts";
import { builtTable } from "../testing/arguments.ts";
import { silentTerminal } from "../testing/silent-terminal.ts";

const id = (letter: string) => letter.repeat(24);
const at = "2026-01-01T12:00:00.000Z";
const later = "2026-02-01T12:00:00.000Z";

/** Two items for each list operation; the second lacks every optional field. */
const lists: Readonly<Record<string, readonly object[]>> = {
  "browsers.list": [
    { session_id: id("a"), created_at: at, deleted_at: later, ended_reason: "timeout" },
    {
      session_id: id("b"),
      name: "research",
      page_url: "https://a.example/\u001b[31m",
      expires_at: later,
      timeout_seconds: 60,
    },
  ],
  "profiles.list": [
    { id: id("a"), name: null, created_at: at },
    { id: id("b"), name: "shopping", created_at: at, last_used_at: later },
  ],
  "apiKeys.list": [
    { id: id("a"), name: "ci", masked_key: "sk_shoal_ab…yz", created_at: at },
    {
      id: id("b"),
      name: "deploy",
      masked_key: "sk_shoal_cd…wx",
      project_name: "default",
      created_at: at,
      expires_at: later,
    },
  ],
  "browsers.fs.listFiles": [
    { mode: "drwxr-xr-x", size_bytes: 4096, mod_time: at, name: "a folder" },
    { mode: "-rw-r--r--", size_bytes: 12, mod_time: later, name: "b\u001b[31m.txt" },
  ],
  "networkRecordings.list": [
    {
      ...{ id: id("a"), session_id: id("b"), status: "complete", size_bytes: 482_113, requests: 31 },
      ...{ left_out: 0, truncated: false, created_at: at },
    },
  ],
  "snapshots.list": [
    {
      ...{ id: id("a"), name: "signed in", session_id: id("b"), engine: "exact", size_bytes: 48_211_300 },
      ...{ paused_ms: 480, created_at: at, expires_at: later },
    },
  ],
  "browserPools.list": [{ id: id("a"), name: "workers", available_count: 3, acquired_count: 10, created_at: at }],
  "proxies.list": [
    { id: id("a"), name: "office", type: "custom", status: "available", ip_address: "192.0.2.1", last_checked: at },
  ],
  "extensions.list": [{ id: id("a"), name: "blocker", size_bytes: 120_000, created_at: at }],
  "credentials.list": [{ id: id("a"), name: "shop", domain: "example.com", has_totp_secret: true, created_at: at }],
  "vaults.list": [{ id: id("a"), name: "logins", created_at: at }],
  "vaults.items.list": [{ key: "shop", type: "credential", version: 2, created_at: at }],
  "vaults.items.events": [{ id: id("a"), name: "filled", browser_id: id("b"), created_at: at }],
  "auth.connections.list": [
    {
      id: id("a"),
      domain: "example.com",
      profile_name: "shopping",
      status: "AUTHENTICATED",
      flow_status: null,
      last_auth_check_at: at,
    },
  ],
  "deployments.list": [
    { id: id("a"), status: "running", entrypoint_rel_path: "index.ts", region: "aws.us-east-1a", created_at: at },
  ],
  "invocations.list": [
    { id: id("a"), app_name: "shop", action_name: "buy", status: "succeeded", started_at: at, finished_at: later },
  ],
  "apps.list": [
    { app_name: "shop", version: "v2", region: "aws.us-east-1a", actions: [{ name: "buy" }], deployment: id("d") },
  ],
  "auditLogs.list": [
    {
      timestamp: at,
      status: 204,
      method: "DELETE",
      path: "/browsers/x",
      email: "me@example.com",
      client_ip: "192.0.2.1",
    },
  ],
};
const table = builtTable();

async function printed(operationId: string, value: unknown, format: Printing["format"] = "table"): Promise<string> {
  const spec = table.find((entry) => entry.operationId === operationId);
  if (!spec) throw new Error(`The table lacks ${operationId}.`);
  const terminal = silentTerminal();
  await printResult(spec, value, { terminal, format, args: [], quiet: false });
  return terminal.written();
}

it("prints lists with their identifying columns", async () => {
  const texts = await Promise.all(
    Object.entries(lists).map(async ([operationId, items]) => `# ${operationId}\n${await printed(operationId, items)}`),
  );
  await expect(texts.join("\n")).toMatchFileSnapshot("../testing/golden/tables.txt");
});

it("prints one object with one field per line, identifying fields first", async () => {
  const browser = {
    created_at: at,
    headless: true,
    session_id: id("a"),
    name: "research",
    viewport: { width: 800, height: 600 },
    tags: { team: "search" },
    profile: null,
    timeout_seconds: 60,
  };
  const texts = await Promise.all(
    (["table", "json", "jsonl", "yaml"] as const).map(
      async (format) => `# ${format}\n${await printed("browsers.get", browser, format)}`,
    ),
  );
  await expect(texts.join("\n")).toMatchFileSnapshot("../testing/golden/object.txt");
});
