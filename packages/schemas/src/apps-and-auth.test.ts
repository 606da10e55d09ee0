import * as z from "zod/mini";
import { describe, expect, it } from "vitest";
import {
  AuthConnection,
  CreateAuthConnection,
  CreateDeployment,
  CreateInvocation,
  CredentialRef,
  DeploymentEvent,
  ListDeployments,
  ManagedAuthEvent,
  ProxyRef,
  Since,
  StartLogin,
  SubmitLogin,
  UpdateAuthConnection,
} from "./index.ts";

const accepts = (schema: z.ZodMiniType, value: unknown) => z.safeParse(schema, value).success;
const file = new File(["PK"], "a.zip");
const source = { type: "github", url: "https://github.com/a/b", ref: "main", entrypoint: "index.ts" };
const connection = { domain: "example.com", profile_name: "ada" };
const invocation = { app_name: "shop", action_name: "price" };

describe("rules between fields of apps and logins", () => {
  it.each<[string, z.ZodMiniType, unknown[], unknown[]]>([
    [
      "CredentialRef",
      CredentialRef,
      [{ name: "n" }, { provider: "p", path: "v/i" }, { provider: "p", auto: true }],
      [
        {},
        { name: "n", provider: "p" },
        { provider: "p" },
        { provider: "p", auto: false },
        { provider: "p", path: "v/i", auto: true },
        { name: "n", path: "v/i" },
      ],
    ],
    ["ProxyRef", ProxyRef, [{ id: "a" }, { name: "a" }], [{}, { id: "a", name: "a" }, { id: "" }]],
    [
      "CreateDeployment",
      CreateDeployment,
      [{ file, entrypoint_rel_path: "index.ts" }, { source }, { source, env_vars: { A: "" } }],
      [
        {},
        { file },
        { file, entrypoint_rel_path: "index.ts", source },
        { source: { ...source, type: "gitlab" } },
        { source, env_vars: { "": "" } },
        { source, region: "moon" },
      ],
    ],
    [
      "ListDeployments",
      ListDeployments,
      [{}, { app_name: "a" }, { app_name: "a", app_version: "v" }],
      [{ app_version: "v" }],
    ],
    [
      "SubmitLogin",
      SubmitLogin,
      [{ interaction_id: "i", field_values: { f: "" } }, { sso_provider: "google" }],
      [{ sso_provider: "google", sso_button_selector: "//a" }, { field_values: { f: 1 } }],
    ],
    [
      "CreateAuthConnection",
      CreateAuthConnection,
      [
        connection,
        { ...connection, browser: { proxy: { mode: "direct" } }, browser_telemetry: null },
        { ...connection, login_url: "https://example.com/login" },
      ],
      [
        { ...connection, browser: { proxy: { id: "p" } }, proxy: { id: "p" } },
        { ...connection, browser: { telemetry: null }, browser_telemetry: null },
        { ...connection, login_url: "" },
        { ...connection, login_url: "javascript:alert(1)" },
      ],
    ],
    [
      "UpdateAuthConnection",
      UpdateAuthConnection,
      [{}, { login_url: "" }],
      [{ login_url: "example.com" }, { browser: { proxy: { id: "p" } }, proxy: { id: "p" } }],
    ],
    [
      "StartLogin",
      StartLogin,
      [{}, { browser: { stealth: false } }],
      [{ browser: { telemetry: {} }, browser_telemetry: {} }],
    ],
  ])("%s", (_name, schema, good, bad) => {
    expect(good.filter((value) => !accepts(schema, value))).toEqual([]);
    expect(bad.filter((value) => accepts(schema, value))).toEqual([]);
  });
});

it.each([
  [healthCheck(1), healthCheck(0)],
  [healthCheck(86_400), healthCheck(86_401)],
])("limits the time between two checks", (good, bad) => {
  expect([accepts(CreateAuthConnection, good), accepts(CreateAuthConnection, bad)]).toEqual([true, false]);
});
function healthCheck(health_check_interval: number) {
  return { ...connection, health_check_interval };
}

it("accepts times and durations as the start of a log", () => {
  const good = [
    "5m",
    "1h30m",
    "1.5s",
    "250ms",
    "2026-01-31",
    "2026-01-31T12:00",
    "2026-01-31T12:00:00",
    "2026-01-31T12:00:00.123Z",
    "2026-01-31T12:00:00+02:00",
  ];
  const bad = ["", "5", "m", "5 m", "-5m", "yesterday", "2026-1-31", "2026-01-31 12:00", "1h".repeat(33)];
  expect(good.filter((text) => !accepts(Since, text))).toEqual([]);
  expect(bad.filter((text) => accepts(Since, text))).toEqual([]);
});

it("requires a JSON payload, and adds the defaults of an invocation", () => {
  expect(z.parse(CreateInvocation, { ...invocation, payload: "null" })).toEqual({
    ...invocation,
    payload: "null",
    version: "latest",
    async: false,
    async_timeout_seconds: 900,
  });
  expect(accepts(CreateInvocation, { ...invocation, payload: "{" })).toBe(false);
  expect(
    [9, 10, 3600, 3601].map((async_timeout_seconds) =>
      accepts(CreateInvocation, { ...invocation, async_timeout_seconds }),
    ),
  ).toEqual([false, true, true, false]);
});

it("checks events of known types and accepts others", () => {
  const timestamp = "2026-01-31T12:00:00Z";
  expect(
    [{ event: "log", message: "m", timestamp }, { event: "new" }, { event: "sse_heartbeat", timestamp, more: 1 }].every(
      (event) => accepts(DeploymentEvent, event),
    ),
  ).toBe(true);
  expect(accepts(DeploymentEvent, { event: "log", timestamp })).toBe(false);
  expect(
    accepts(ManagedAuthEvent, {
      event: "managed_auth_state",
      timestamp,
      flow_status: "A_NEW_ONE",
      flow_step: "COMPLETED",
    }),
  ).toBe(true);
  expect(accepts(ManagedAuthEvent, { event: "managed_auth_state", timestamp })).toBe(false);
});

it("accepts null for the login fields of a connection", () => {
  const answer = {
    id: "c",
    ...connection,
    status: "AUTHENTICATED",
    save_credentials: true,
    record_session: false,
    flow_status: null,
    flow_step: null,
    flow_type: null,
    fields: null,
    choices: null,
    hosted_url: null,
  };
  expect(accepts(AuthConnection, answer)).toBe(true);
});
