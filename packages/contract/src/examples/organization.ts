import { ids, times, type Examples } from "./example.ts";

const creator = { id: "usr_1", email: "admin@example.com", name: "Ada" };
const key = {
  id: "h7q2m4c8x1v5b9n3",
  name: "ci",
  created_at: times.created,
  created_by: creator,
  expires_at: times.later,
  deleted_at: null,
  project_id: ids.project,
  project_name: "shop",
  masked_key: "sk_shoal_…x7Qa",
  last_used_at: times.updated,
};
const enabled = { enabled: true };
const auditDestination = {
  type: "s3",
  format: "jsonl.gz",
  bucket: "acme-audit",
  prefix: "shoal/",
  region: "eu-central-1",
  role_arn: "arn:aws:iam::123456789012:role/shoal-audit",
} as const;

/** Examples of keys, projects, limits, the audit log and telemetry destinations. */
export const organizationExamples = {
  EvidenceKey: [
    {
      key_id: "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k",
      algorithm: "Ed25519",
      public_key: "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo",
    },
  ],
  BotIdentity: [
    {
      keys: [
        {
          key_id: "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U",
          public_key: { kty: "OKP", crv: "Ed25519", x: "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs" },
          created_at: times.created,
          retires_at: null,
        },
      ],
      signature_agent: "https://shoal.example",
      directory_url: "https://shoal.example/.well-known/http-message-signatures-directory",
    },
  ],
  ApiKey: [key],
  CreatedApiKey: [{ ...key, key: "sk_shoal_0123456789abcdefghijklmnopqrstuvwxyzABCx7Qa" }],
  CreateApiKey: [
    { name: "ci", days_to_expire: 30, project_id: ids.project },
    { name: "support", role: "viewer" },
    { name: "shop", policy: { statements: [{ action: "browsers:use", resource: `projects/${ids.project}/*` }] } },
  ],
  KeyPolicy: [{ statements: [{ action: "browsers:use", resource: `projects/${ids.project}/*` }] }],
  KeyPolicyStatement: [{ action: "role:viewer", resource: `projects/${ids.project}/*` }],
  UpdateApiKey: [{ name: "ci-nightly" }],
  RotateApiKey: [{ days_to_expire: 30, expire_in_days: 1 }],
  Project: [{ id: ids.project, name: "shop", status: "active", created_at: times.created, updated_at: times.updated }],
  CreateProject: [{ name: "shop", network: { deny: ["*.internal.example"] } }],
  UpdateProject: [{ status: "archived" }, { network: { allow: ["*.example.com:443"], deny: null } }],
  ProjectLimits: [{ max_concurrent_sessions: 20, max_concurrent_invocations: null }],
  UpdateProjectLimits: [{ max_concurrent_sessions: 40 }],
  OrgLimits: [
    {
      max_concurrent_sessions: 100,
      concurrent_sessions_used: 7,
      concurrent_sessions_available: 93,
      default_project_max_concurrent_sessions: null,
      max_auth_connections: null,
      auth_connections_used: 2,
      min_health_check_interval_seconds: 300,
      max_vaults: null,
      vaults_used: 3,
    },
  ],
  UpdateOrgLimits: [{ default_project_max_concurrent_sessions: 10 }],
  OrgEntitlements: [
    {
      plan: { id: "START_UP", effective_id: "START_UP", is_trialing: false, status: "ACTIVE", trial_ends_at: null },
      features: {
        browser_extensions: { enabled: true, max_stored_per_org: null },
        browser_pools: enabled,
        browser_replays: { enabled: true, retention_days: 30 },
        credential_providers: enabled,
        credentials: enabled,
        custom_proxies: enabled,
        file_io: enabled,
        gpu: { enabled: false },
        managed_auth: {
          enabled: true,
          health_check_interval_default_seconds: 3_600,
          health_check_interval_max_seconds: 86_400,
          health_check_interval_min_seconds: 300,
          max_connections: null,
        },
        managed_proxies: { enabled: false },
        profiles: enabled,
        proxy_bypass_hosts: enabled,
        search: { enabled: false },
        vaults: enabled,
      },
      limits: {
        max_concurrent_browsers: 100,
        max_concurrent_invocations: 50,
        default_max_concurrent_invocations_per_app: 10,
        max_vaults: null,
      },
    },
  ],
  AuthContext: [
    {
      authentication: { method: "api_key", source: "api_key", credential_id: key.id },
      authorization: { credential_scope: { project_id: ids.project }, effective_scope: { project_id: ids.project } },
      organization: { id: "org_1" },
      principal: { id: key.id, type: "api_key" },
    },
  ],
  UsageRow: [
    {
      date: "2026-03-01",
      project_id: ids.project,
      project_name: "shop",
      session_minutes: 412.5,
      sessions_started: 37,
      peak_concurrent_sessions: 6,
      bytes_sent: 18_204_112,
      bytes_received: 902_113_408,
      storage_bytes: 73_400_320,
    },
    {
      date: "2026-03-01",
      project_id: ids.project,
      project_name: "shop",
      api_key_id: key.id,
      api_key_name: "ci",
      session_minutes: 96.25,
      sessions_started: 12,
      peak_concurrent_sessions: 3,
      bytes_sent: 4_102_840,
      bytes_received: 120_445_952,
    },
  ],
  AuditLogVerification: [{ valid: true, entries: 1042, head: `1042:${"9f2c".repeat(16)}` }],
  AuditLogEntry: [
    {
      timestamp: times.created,
      auth_strategy: "api_key",
      user_id: "usr_1",
      email: "admin@example.com",
      status: 200,
      method: "POST",
      path: "/browsers",
      route: "/browsers",
      domain: "127.0.0.1:7777",
      duration_ms: 412,
      client_ip: "127.0.0.1",
      user_agent: "shoal/0.1.0",
    },
  ],
  AuditLogExportDestination: [
    {
      ...auditDestination,
      id: "ad_1",
      external_id: "shoal-5f2d",
      kernel_role_arn: "arn:aws:iam::210987654321:role/shoal-export",
      status: "active",
      consecutive_failures: 0,
      created_at: times.created,
      updated_at: times.updated,
    },
  ],
  CreateAuditLogExportDestination: [auditDestination],
  UpdateAuditLogExportDestination: [{ status: "paused" }],
  AuditLogExportDestinationTestResult: [
    {
      success: false,
      stage: "assume_role",
      error: { code: "assume_role_failed", message: "The role does not trust the exporter." },
    },
  ],
  OtlpDestination: [
    {
      id: "td_1",
      name: "collector",
      endpoint: "https://otlp.example.com",
      headers: { authorization: "" },
      consecutive_failures: 0,
      last_export_at: times.updated,
      created_at: times.created,
      updated_at: times.updated,
    },
  ],
  CreateOtlpDestination: [
    { name: "collector", endpoint: "https://otlp.example.com", headers: { authorization: "Bearer 8c1f" } },
  ],
  UpdateOtlpDestination: [{ headers: { authorization: null } }],
  Health: [{ status: "ok", version: "0.1.0" }],
  Readiness: [{ status: "ready", checks: { database: "ok", placement: "ok" } }],
  ErrorBody: [
    {
      code: "bad_request",
      message: "body.timeout_seconds: expected at least 10",
      details: [{ code: "invalid_input", message: "body.timeout_seconds: expected at least 10" }],
    },
  ],
} satisfies Examples;
