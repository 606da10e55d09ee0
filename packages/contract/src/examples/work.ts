import type { CreateFlow } from "@shoal/schemas";
import { ids, times, type Examples } from "./example.ts";

const action = { name: "sync-orders", input_schema: { type: "object", properties: { since: { type: "string" } } } };
const region = "aws.us-east-1a" as const;
const deployment = {
  id: "dep_1",
  status: "running",
  region,
  entrypoint_rel_path: "src/index.ts",
  env_vars: {},
  created_at: times.created,
  updated_at: times.updated,
  source_type: "file",
};
const invocation = {
  id: "inv_1",
  app_name: "orders",
  version: "1.4.0",
  action_name: action.name,
  payload: '{"since":"2026-03-01"}',
  output: '{"orders":3}',
  started_at: times.created,
  finished_at: times.updated,
  status: "succeeded",
};
const schedule = { app_name: "orders", version: "1.4.0", action_name: action.name, cron: "0 9 * * 1-5" };
const flow = {
  name: "order",
  start_url: "https://shop.example.com/",
  parameters: [{ name: "product", default: "tea", secret: false }],
  steps: [
    {
      action: "fill",
      target: { role: "searchbox", name: "Search", fallbacks: [{ by: "css", value: 'input[name="q"]' }] },
      text: "{{product}}",
      submit: true,
      expect: [{ url: "https://shop.example.com/search?*" }],
    },
    { action: "click", target: { role: "button", name: "Add to cart", fallbacks: [] }, expect: [{ text: "1 item" }] },
  ],
} satisfies CreateFlow;
const flowSummary = {
  id: "flw_1",
  name: flow.name,
  version: 1,
  start_url: flow.start_url,
  created_at: times.created,
  updated_at: times.created,
};
const flowRun = {
  ...{ id: "flr_1", flow_id: flowSummary.id, flow_version: 1, status: "diverged", row_count: 1 },
  ...{ created_at: times.created, finished_at: times.updated },
};
const flowRunRow = {
  ...{ index: 0, status: "diverged", session_id: ids.session, error: null },
  steps: [
    { step: -1, status: "done", found_by: null, duration_ms: 420 },
    {
      ...{ step: 0, status: "diverged", found_by: null, duration_ms: 10_012 },
      divergence: {
        ...{ code: "not_found", expected: 'fill searchbox "Search"', seen: "No element matches." },
        ...{ candidates: ['textbox "Find"'], url: "https://shop.example.com/", title: "Shop" },
      },
    },
  ],
};
const wholeFlow = {
  ...flowSummary,
  parameters: flow.parameters,
  steps: flow.steps.map((step) => ({ ...step, timeout_ms: 10_000, on_divergence: "stop" as const })),
};
const webhook = {
  id: "whk_1",
  url: "https://example.com/hooks",
  event_types: ["invocation.succeeded", "invocation.failed"],
  enabled: true,
  created_at: times.created,
  updated_at: times.updated,
} as const;
const connection = {
  id: "con_1",
  profile_name: "work",
  domain: "example.com",
  status: "AUTHENTICATED",
  last_auth_at: times.updated,
  credential: { name: "example-login" },
  can_reauth: true,
  save_credentials: true,
  record_session: false,
};

/** Examples of apps, invocations, credentials and managed logins. */
export const workExamples = {
  AppVersion: [
    {
      id: "app_1",
      app_name: "orders",
      version: "1.4.0",
      region,
      deployment: deployment.id,
      actions: [action],
      env_vars: {},
    },
  ],
  Deployment: [deployment],
  DeploymentEvent: [
    { event: "deployment_state", deployment, timestamp: times.updated },
    { event: "sse_heartbeat", timestamp: times.updated },
  ],
  CreateInvocation: [
    { app_name: "orders", version: "1.4.0", action_name: action.name, payload: '{"since":"2026-03-01"}', async: true },
  ],
  CreatedInvocation: [{ id: invocation.id, action_name: action.name, status: "queued" }],
  Invocation: [invocation],
  InvocationBrowsers: [
    {
      browsers: [
        {
          session_id: ids.session,
          created_at: times.created,
          cdp_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/cdp?jwt=eyJhbGciOi`,
          webdriver_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/webdriver?jwt=eyJhbGciOi`,
          playwright_ws_url: `ws://127.0.0.1:7777/browsers/${ids.session}/playwright?jwt=eyJhbGciOi`,
          headless: true,
          stealth: false,
          timeout_seconds: 60,
        },
      ],
    },
  ],
  InvocationEvent: [
    { event: "log", message: "3 orders", source: "stdout", timestamp: times.created },
    { event: "invocation_state", invocation, timestamp: times.updated },
  ],
  UpdateInvocation: [{ status: "failed", output: '{"reason":"stopped by hand"}' }],
  CreateSchedule: [
    { ...schedule, time_zone: "Europe/Berlin", payload: '{"since":"2026-03-01"}' },
    { flow: flowSummary.id, flow_run: { parameters: { product: "tea" } }, cron: schedule.cron },
  ],
  Schedule: [
    {
      id: "sch_1",
      ...schedule,
      time_zone: "Europe/Berlin",
      origin: "request",
      status: "active",
      next_run_at: times.updated,
      created_at: times.created,
    },
  ],
  StartFlowRun: [{ session: ids.session }, { table: [{ product: "tea" }, { product: "milk" }], concurrency: 2 }],
  FlowRun: [{ ...flowRun, rows: [flowRunRow] }],
  FlowRunSummary: [flowRun],
  Flow: [wholeFlow],
  FlowSummary: [flowSummary],
  CreateFlow: [flow],
  UpdateFlow: [{ name: "order-tea" }],
  RecordFlow: [{ name: flow.name }],
  RecordedFlow: [
    { flow: wholeFlow, skipped: [{ action: "upload", reason: "Files belong to one session." }], forgotten: 0 },
  ],
  ImportFlow: [{ text: JSON.stringify(flow) }],
  Webhook: [{ ...webhook, event_types: [...webhook.event_types] }],
  CreateWebhook: [{ url: webhook.url, event_types: [...webhook.event_types] }],
  UpdateWebhook: [{ enabled: false }],
  RotateWebhookSecret: [{ grace_seconds: 3600 }],
  WebhookDelivery: [
    {
      id: "del_1",
      event_id: "evt_1",
      event_type: "invocation.succeeded",
      payload: '{"type":"invocation.succeeded","timestamp":"2026-03-01T09:31:05.250Z","data":{}}',
      status: "succeeded",
      attempts: 1,
      last_attempt_at: times.updated,
      response_status: 204,
      duration_ms: 38,
      created_at: times.updated,
    },
  ],
  Credential: [
    {
      id: "cred_1",
      name: "example-login",
      domain: "example.com",
      created_at: times.created,
      updated_at: times.updated,
      has_values: true,
      has_totp_secret: true,
      value_keys: ["username", "password"],
    },
  ],
  CreateCredential: [
    {
      name: "example-login",
      domain: "example.com",
      values: { username: "ada", password: "correct-horse" },
      totp_secret: "JBSWY3DPEHPK3PXP",
    },
  ],
  UpdateCredential: [{ values: { password: "battery-staple" } }],
  TotpCode: [{ code: "287082", expires_at: times.updated }],
  Vault: [{ id: "v_1", name: "logins", created_at: times.created, updated_at: times.updated }],
  CreateVault: [{ name: "logins" }],
  VaultEncryptionKey: [
    {
      kid: "vk_1",
      alg: "ECDH-ES",
      enc: "A256GCM",
      jwk: {
        kty: "EC",
        crv: "P-256",
        x: "f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU",
        y: "x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0",
      },
    },
  ],
  VaultItem: [
    {
      id: "vi_1",
      key: "shop",
      type: "credential",
      spec: {
        provider: "kernel",
        description: "Shop",
        fields: [
          { name: "username", type: "text", required: true, sensitive: false },
          { name: "password", type: "password", required: true, sensitive: true, label: "Password" },
        ],
        sites: ["shop.example.com"],
      },
      state: {
        provider: "kernel",
        status: "ready",
        fields: { username: { has_value: true, value: "ada" }, password: { has_value: true } },
      },
      available_operations: [],
      available_expansions: [],
      version: 1,
      created_at: times.created,
      updated_at: times.updated,
    },
  ],
  PutVaultItem: [
    {
      type: "credential",
      spec: {
        provider: "kernel",
        description: "Shop",
        fields: [
          { name: "username", type: "text", sensitive: false, value: "ada" },
          { name: "password", type: "password", value: "correct-horse" },
          { name: "code", type: "totp", value: "JBSWY3DPEHPK3PXP" },
        ],
        sites: ["shop.example.com"],
      },
    },
    { type: "credential", spec: { provider: "managed_auth", connection_id: connection.id } },
  ],
  UpdateVaultItem: [
    { type: "credential", version: 1, spec: { fields: { password: { value: "battery-staple" } } } },
    {
      type: "credential",
      version: 2,
      spec: { remove_fields: ["code"], add_fields: [{ name: "pin", type: "password", required: false }] },
    },
  ],
  OperateVaultItem: [
    { type: "collect" },
    {
      type: "fill",
      browser_id: "h7q2m4c8x1v5b9n3",
      page_url: "https://shop.example.com/login",
      fields: [
        { field: "username", selector: "#user" },
        { field: "password", selector: "input[type=password]" },
      ],
    },
  ],
  VaultItemOperation: [
    { type: "fill", status: "completed", fields: [{ index: 0, status: "filled" }] },
    {
      type: "fill",
      status: "failed",
      fields: [
        { index: 0, status: "failed", error_code: "ambiguous_selector" },
        { index: 1, status: "not_attempted" },
      ],
    },
  ],
  VaultItemEvent: [{ id: "ve_1", name: "updated", created_at: times.updated, data: { version: 2 } }],
  CredentialProvider: [
    {
      id: "cp_1",
      provider_type: "onepassword",
      name: "team-vault",
      enabled: true,
      priority: 0,
      created_at: times.created,
      updated_at: times.updated,
    },
  ],
  CreateCredentialProvider: [
    { provider_type: "onepassword", name: "team-vault", token: "ops_eyJzaWdu", cache_ttl_seconds: 300 },
    {
      provider_type: "vault",
      name: "company-vault",
      token: "hvs.CAESIJ",
      settings: { address: "https://vault.example.com:8200", mount: "secret", path: "logins" },
    },
  ],
  UpdateCredentialProvider: [{ enabled: false }],
  CredentialProviderItems: [
    {
      items: [
        {
          id: "itm_1",
          title: "Example",
          vault_id: "v_1",
          vault_name: "Team",
          path: "Team/Example",
          urls: ["https://example.com/"],
        },
      ],
    },
  ],
  CredentialProviderTestResult: [{ success: true, vaults: [{ id: "v_1", name: "Team" }] }],
  AuthConnection: [connection],
  CreateAuthConnection: [
    {
      domain: "example.com",
      profile_name: "work",
      login_url: "https://example.com/login",
      credential: { name: "example-login" },
      health_check_interval: 3_600,
    },
  ],
  UpdateAuthConnection: [{ login_url: "https://example.com/sign-in", save_credentials: false }],
  ConnectionExistsError: [
    {
      code: "conflict",
      message: "The profile work has a connection to example.com already: con_1.",
      existing_id: connection.id,
    },
  ],
  ManagedAuthEvent: [
    {
      event: "managed_auth_state",
      timestamp: times.updated,
      flow_status: "IN_PROGRESS",
      flow_step: "AWAITING_INPUT",
      flow_type: "LOGIN",
      fields: [
        { id: "password", ref: "password", type: "password", reason: "missing", label: "Password", required: true },
      ],
    },
  ],
  TimelineEvent: [{ type: "login", id: "tl_1", timestamp: times.updated, status: "SUCCESS" }],
  StartLogin: [{ record_session: true }],
  CheckConnection: [{ wait_seconds: 60 }],
  StartedLogin: [
    {
      id: connection.id,
      flow_type: "LOGIN",
      hosted_url: "http://127.0.0.1:7777/login/con_1",
      flow_expires_at: times.later,
      handoff_code: "9f3a",
    },
  ],
  SubmitLogin: [{ fields: { password: "correct-horse" } }],
  SubmittedLogin: [{ accepted: true }],
  ExchangeHandoff: [{ code: "9f3a" }],
  ExchangedHandoff: [{ invocation_id: invocation.id, jwt: "eyJhbGciOi" }],
} satisfies Examples;
