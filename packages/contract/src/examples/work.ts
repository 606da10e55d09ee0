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
  CreateSchedule: [{ ...schedule, time_zone: "Europe/Berlin", payload: '{"since":"2026-03-01"}' }],
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
