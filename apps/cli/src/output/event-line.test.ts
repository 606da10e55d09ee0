import { expect, it } from "vitest";
import { printEvent } from "./event-line.ts";
import { silentTerminal } from "../testing/silent-terminal.ts";

function line(event: object): string {
  const terminal = silentTerminal();
  printEvent(terminal, event, "table");
  return terminal.written();
}
const timestamp = "2026-01-01T00:00:00Z";

it.each([
  [{ type: "CREATE", path: "/a", is_dir: true }, "CREATE  /a/\n"],
  [{ type: "RENAME", path: "/a", dest_path: "/b", is_dir: false }, "RENAME  /a -> /b\n"],
  [{ event: "log", message: "started\n", timestamp }, `${timestamp}  started\n`],
  [{ event: "log", message: "installing", source: "build", timestamp }, `${timestamp}  build   installing\n`],
  [{ event: "log", message: "failed", source: "stderr", timestamp }, `${timestamp}  stderr  failed\n`],
  [
    { event: "deployment_state", deployment: { status: "failed", status_reason: "no memory" }, timestamp },
    `${timestamp}  deployment_state  failed  no memory\n`,
  ],
  [
    { event: "managed_auth_state", flow_status: "IN_PROGRESS", flow_step: "AWAITING_INPUT", timestamp },
    `${timestamp}  managed_auth_state  IN_PROGRESS  AWAITING_INPUT\n`,
  ],
  [{ event: "error", error: { code: "x", message: "it broke" }, timestamp }, `${timestamp}  error  it broke\n`],
  [
    { seq: 7, event: { ts: 1_767_225_600_000_000, type: "console_log", category: "console", data: { text: "hi" } } },
    "2026-01-01T00:00:00.000Z  INFO   console      hi\n",
  ],
  [
    {
      event: "app_version_summary",
      app_name: "shop",
      version: "v1",
      actions: [{ name: "buy" }, { name: "sell" }],
      timestamp,
    },
    `${timestamp}  shop v1: buy, sell\n`,
  ],
  [{ event: "of a newer service" }, '{"event":"of a newer service"}\n'],
])("prints %j as %j", (event, said) => {
  expect(line(event)).toBe(said);
});
