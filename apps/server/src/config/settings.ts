import { checked } from "@shoal/schemas";
import { homedir, totalmem } from "node:os";
import { join } from "node:path";
import * as z from "zod/mini";
import { awsIdentityProblem } from "../audit-export/aws-identity.ts";
import { s3AddressProblem } from "../blobs/s3-address.ts";
import { templateProblem } from "../proxies/exits.ts";
import { isAddressRange } from "../public-url/trusted-proxies.ts";

/** How the text of a flag or an environment variable becomes a value; `path` is made absolute. */
export type SettingKind = "text" | "path" | "integer" | "boolean" | "list";

/** One setting of the service, for documents and command lines. */
export interface Setting {
  readonly kind: SettingKind;
  /** One line for people. */
  readonly summary: string;
  /** What holds when it is not given, as people would say it. */
  readonly default: string;
  /** Environment variables that are read beside `SHOAL_<NAME>`, in order. */
  readonly env?: readonly string[];
  /** Its value is never shown. */
  readonly secret?: true;
  /** It can be given on the command line only. */
  readonly flagOnly?: true;
}

const text = checked(z.string(), z.minLength(1, "must not be empty"));
const integer = (minimum: number, maximum: number) => z.int().check(z.minimum(minimum), z.maximum(maximum));
const httpUrl = text.check(
  z.refine((value) => URL.canParse(value) && /^https?:$/.test(new URL(value).protocol), "must be an http:// or https:// address"),
);
const proxyTemplate = text.check(
  z.refine((value) => templateProblem(value) === undefined, { error: ({ input }) => templateProblem(String(input)) ?? "" }),
);
const frameAncestor = text.check(
  z.refine(
    (value) => /^(self|\*|(?:https?:\/\/)?(?:\*\.)?[\w.-]+(?::(?:\d{1,5}|\*))?)$/.test(value),
    "must be self, *, or a site such as https://app.example or *.example",
  ),
);
const storeUrl = text.check(
  z.refine((value) => s3AddressProblem(value) === undefined, { error: ({ input }) => s3AddressProblem(String(input)) ?? "" }),
);
const awsIdentity = text.check(
  z.refine((value) => awsIdentityProblem(value) === undefined, { error: ({ input }) => awsIdentityProblem(String(input)) ?? "" }),
);
const endpointUrl = httpUrl.check(z.refine((value) => !/[?#@]/.test(value), "must be an address without ?, # and @"));
const principalArn = text.check(
  z.refine(
    (value) => /^arn:[\w-]+:(?:iam|sts)::\w*:[\w+=,.@/-]{1,600}$/.test(value),
    "must be the ARN of a user or role, such as arn:aws:iam::123456789012:role/shoal",
  ),
);
const postgresUrl = text.check(
  z.refine((value) => URL.canParse(value) && /^postgres(ql)?:$/.test(new URL(value).protocol), "must be a postgres:// address"),
);

/** Below it no browser starts. */
const leastSessionDiskMb = 64;

/** What the service can be told, checked: the one schema behind flags, environment and config file. */
export const Settings = z.strictObject({
  host: z.optional(text),
  port: z.optional(integer(0, 65_535)),
  public_url: z.optional(httpUrl.check(z.refine((value) => !/[?#@]/.test(value), "must be an address without ?, # and @"))),
  content_url: z.optional(
    httpUrl.check(
      z.refine(
        (value) => new URL(value).href === `${new URL(value).origin}/`,
        "must be an origin without a path, such as https://content.shoal.example",
      ),
    ),
  ),
  trusted_proxies: z.optional(z.array(text.check(z.refine(isAddressRange, "must be addresses or CIDR ranges such as 10.0.0.0/8")))),
  trusted_proxy_headers: z.optional(z.enum(["x-forwarded", "forwarded"])),
  replica_url: z.optional(httpUrl),
  region: z.optional(text.check(z.refine((value) => /^[A-Za-z0-9-]{1,63}$/.test(value), "must be 1 to 63 letters, digits and hyphens"))),
  data_dir: z.optional(text),
  blobs_dir: z.optional(text),
  blob_store_url: z.optional(storeUrl),
  blob_store_access_key: z.optional(text),
  blob_store_secret_key: z.optional(text),
  database_url: z.optional(postgresUrl),
  secret_key: z.optional(text.check(z.minLength(32, "must have at least 32 characters"))),
  placement: z.optional(z.enum(["auto", "sandbox", "process"])),
  warm: z.optional(integer(0, 100)),
  session_memory_mb: z.optional(
    integer(0, 1_048_576).check(z.refine((value) => value === 0 || value >= 256, "must be 0 (no limit), or at least 256")),
  ),
  session_memory_max_mb: z.optional(integer(0, 1_048_576)),
  session_disk_mb: z.optional(
    integer(0, 1_048_576).check(
      z.refine(
        (value) => value === 0 || value >= leastSessionDiskMb,
        `must be 0 (on the disk, without a limit), or at least ${String(leastSessionDiskMb)}`,
      ),
    ),
  ),
  chromium: z.optional(text),
  allow_private_hosts: z.optional(z.array(text)),
  egress_connections_per_session: z.optional(integer(16, 100_000)),
  egress_connections_per_project: z.optional(integer(16, 1_000_000)),
  egress_idle_timeout_seconds: z.optional(integer(10, 86_400)),
  unsafe_no_isolation: z.optional(z.boolean()),
  proxy_datacenter: z.optional(proxyTemplate),
  proxy_isp: z.optional(proxyTemplate),
  proxy_residential: z.optional(proxyTemplate),
  proxy_mobile: z.optional(proxyTemplate),
  proxy_check_url: z.optional(httpUrl),
  chrome_store_url: z.optional(httpUrl),
  max_sessions: z.optional(integer(1, 100_000)),
  max_sessions_per_project: z.optional(integer(1, 100_000)),
  max_sessions_per_organization: z.optional(integer(1, 1_000_000)),
  max_requests: z.optional(integer(0, 1_000_000)),
  max_connections: z.optional(integer(1, 1_000_000)),
  max_starting_sessions: z.optional(integer(0, 100_000)),
  max_event_loop_delay_ms: z.optional(integer(0, 60_000)),
  max_memory_mb: z.optional(integer(0, 10_000_000)),
  request_stall_seconds: z.optional(integer(1, 3600)),
  websocket_timeout_seconds: z.optional(integer(1, 86_400)),
  rate_limit_per_key: z.optional(integer(0, 10_000_000)),
  rate_limit_per_organization: z.optional(integer(0, 10_000_000)),
  rate_limit_per_address: z.optional(integer(0, 10_000_000)),
  idle_timeout_seconds: z.optional(integer(10, 259_200)),
  idempotency_retention_hours: z.optional(integer(1, 720)),
  telemetry_retention_days: z.optional(integer(1, 3650)),
  replay_retention_days: z.optional(integer(1, 3650)),
  replay_max_running: z.optional(integer(1, 100_000)),
  replay_max_gib: z.optional(integer(1, 1_048_576)),
  profile_versions: z.optional(integer(1, 1000)),
  profile_checkpoint_seconds: z.optional(integer(0, 86_400)),
  profile_max_mib: z.optional(integer(1, 1_048_576)),
  audit_retention_days: z.optional(integer(1, 36_500)),
  audit_export_identity: z.optional(awsIdentity),
  audit_export_role_arn: z.optional(principalArn),
  audit_export_seconds: z.optional(integer(1, 3600)),
  audit_export_sts_url: z.optional(endpointUrl),
  audit_export_s3_url: z.optional(endpointUrl),
  live_view_hours: z.optional(integer(1, 168)),
  live_view_frame_ancestors: z.optional(z.array(frameAncestor)),
  drain_seconds: z.optional(integer(0, 3600)),
  shutdown_seconds: z.optional(integer(1, 3600)),
  unknown_fields: z.optional(z.enum(["ignore", "refuse"])),
  metrics_port: z.optional(integer(0, 65_535)),
  metrics_host: z.optional(text),
  metrics_token: z.optional(text.check(z.minLength(16, "must have at least 16 characters"))),
  otlp_endpoint: z.optional(httpUrl),
  access_log: z.optional(text),
  log_level: z.optional(z.enum(["trace", "debug", "info", "warn", "error", "fatal", "silent"])),
  log_format: z.optional(z.enum(["auto", "pretty", "json"])),
  ready_file: z.optional(text),
  new_admin_key: z.optional(z.boolean()),
  accept_audit_head: z.optional(z.boolean()),
});
/** Settings as they were given; what is absent takes its default. */
export type Settings = z.output<typeof Settings>;
/** Name of a setting, as in the config file. */
export type SettingName = keyof Settings;

/** Every setting: its flag is `--name-with-hyphens`, its environment variable `SHOAL_NAME`, its key in the config file the name itself. */
export const settings: Readonly<Record<SettingName, Setting>> = {
  host: {
    kind: "text",
    summary: "Address to listen on. Beyond loopback only with the sandbox placement, or with unsafe_no_isolation.",
    default: "127.0.0.1",
  },
  port: { kind: "integer", summary: "Port to listen on, 0 to 65535; 0 takes a free one.", default: "7777" },
  public_url: {
    kind: "text",
    summary: "Address under which clients reach the service, when a proxy stands before it: https://shoal.example/api, path prefix and all.",
    default: "what trusted proxies say, or else the address of each request",
  },
  content_url: {
    kind: "text",
    summary:
      "Separate origin for session content, such as https://content.shoal.example: addresses below base_url are served there and nowhere else, and the service's own pages and the API are not. The proxy must pass the Host header, or be one of trusted_proxies.",
    default: "none, session content is served at the service's address, in a sandbox",
  },
  trusted_proxies: {
    kind: "list",
    summary: "Addresses or CIDR ranges of reverse proxies whose word is taken for a client's address, scheme, host and path prefix.",
    default: "none",
  },
  trusted_proxy_headers: {
    kind: "text",
    summary: "What those proxies set: x-forwarded (X-Forwarded-For, -Proto, -Host, -Prefix) or forwarded (RFC 7239).",
    default: "x-forwarded",
  },
  replica_url: {
    kind: "text",
    summary: "Address under which the other servers of the same database reach this one, without a path.",
    default: "where it listens; the machine's first address where that is every one",
  },
  region: {
    kind: "text",
    summary:
      "Name of the place where this server is, 1 to 63 letters, digits and hyphens: us-east. Sessions and pools can ask for a region; the servers of one database may be in several.",
    default: "default",
  },
  data_dir: {
    kind: "path",
    summary: "Folder of the embedded database, the secret, the admin key and running sessions.",
    default: "the system's folder for application data",
  },
  blobs_dir: { kind: "path", summary: "Folder of uploaded extensions and saved profiles. Replicas share it.", default: "data_dir/blobs" },
  blob_store_url: {
    kind: "text",
    summary:
      "S3-compatible store for them instead: s3://key:secret@host:port/bucket/prefix?region=eu-central-1, and &tls=false for one without TLS. The same on every replica.",
    default: "none, files",
    secret: true,
  },
  blob_store_access_key: { kind: "text", summary: "Access key of the store, where its URL has none.", default: "none", env: ["AWS_ACCESS_KEY_ID"] },
  blob_store_secret_key: { kind: "text", summary: "The secret that goes with it.", default: "none", env: ["AWS_SECRET_ACCESS_KEY"], secret: true },
  database_url: {
    kind: "text",
    summary: "PostgreSQL 14 or later to use instead of the embedded one.",
    default: "embedded PostgreSQL in data_dir",
    env: ["DATABASE_URL"],
    secret: true,
  },
  secret_key: {
    kind: "text",
    summary: "Secret behind session tokens and stored answers, 32 characters or more; the same on every replica.",
    default: "made once, in data_dir/secret.key",
    secret: true,
  },
  placement: { kind: "text", summary: "Where sessions run: sandbox (bubblewrap), process (isolates nothing) or auto.", default: "auto" },
  warm: { kind: "integer", summary: "Browsers kept waiting for the next session, 0 to 100.", default: "1" },
  session_memory_mb: {
    kind: "integer",
    summary:
      "Memory in MiB that a sandboxed session may take, browser and all; beyond it the kernel ends its largest process. Holds where the service may make control groups: as root, or under systemd with Delegate=yes. 0 = no limit.",
    default: "4096",
  },
  session_memory_max_mb: {
    kind: "integer",
    summary: "The most memory in MiB that a session may ask for (memory), where it can ask at all. 0 = what the machine has.",
    default: "0",
  },
  session_disk_mb: {
    kind: "integer",
    summary:
      "Room in MiB for the files of a sandboxed session, one file for each 8 KiB. They are in memory and count towards session_memory_mb. 0 = on the disk, without a limit.",
    default: "2048, or half of the machine's memory if that is less",
  },
  chromium: { kind: "path", summary: "The Chromium to run.", default: "the first one found" },
  allow_private_hosts: {
    kind: "list",
    summary: "Private hosts, addresses or CIDR ranges, each with an optional :port, that pages and telemetry exports may reach.",
    default: "none",
  },
  egress_connections_per_session: {
    kind: "integer",
    summary: "Connections to the network that one session may have open; more are refused.",
    default: "256",
  },
  egress_connections_per_project: {
    kind: "integer",
    summary: "Connections to the network that all sessions of a project may have open on this server; more are refused.",
    default: "2000",
  },
  egress_idle_timeout_seconds: {
    kind: "integer",
    summary:
      "Seconds after which a session's connection to the network is closed when no byte passes. Raise it for pages whose WebSockets stay silent for longer.",
    default: "900",
  },
  unsafe_no_isolation: { kind: "boolean", summary: "Listen beyond loopback although the process placement isolates nothing.", default: "false" },
  proxy_datacenter: {
    kind: "text",
    summary: "Provider behind proxies of type datacenter: an http, https or socks5 URL with `{country}` and `{session_id}` to be filled in.",
    default: "none",
    secret: true,
  },
  proxy_isp: { kind: "text", summary: "Likewise behind proxies of type isp.", default: "none", secret: true },
  proxy_residential: {
    kind: "text",
    summary:
      "Likewise behind proxies of type residential; also `{city}`, `{state}`, `{zip}`, `{asn}`. A part in square brackets goes when its value is absent.",
    default: "none",
    secret: true,
  },
  proxy_mobile: { kind: "text", summary: "Likewise behind proxies of type mobile; also `{city}`, `{state}`.", default: "none", secret: true },
  proxy_check_url: {
    kind: "text",
    summary: "Page that checks of proxies fetch: it answers with the address that it was asked from, as text or as JSON.",
    default: "https://api.ipify.org/?format=json",
  },
  chrome_store_url: {
    kind: "text",
    summary: "Where packages of the Chrome Web Store are asked for.",
    default: "https://clients2.google.com/service/update2/crx",
  },
  max_sessions: { kind: "integer", summary: "Sessions that may run on this server at once.", default: "by memory: one for each 256 MiB, 4 to 500" },
  max_sessions_per_project: {
    kind: "integer",
    summary: "Sessions that a project may run at once, unless a limit of its own or of the organisation was set.",
    default: "50",
  },
  max_sessions_per_organization: {
    kind: "integer",
    summary: "Sessions that all projects together may run at once, on every server.",
    default: "1000",
  },
  max_requests: {
    kind: "integer",
    summary: "Requests that this server answers at once, event streams aside; more are refused with 503. 0 = no limit.",
    default: "2000",
  },
  max_connections: {
    kind: "integer",
    summary: "Connections that this server takes at once; more are closed. WebSockets and event streams are among them.",
    default: "10000",
  },
  max_starting_sessions: {
    kind: "integer",
    summary: "Sessions that may be starting on this server at once, in turn or waiting for it; more are refused with 529. 0 = no limit.",
    default: "128",
  },
  max_event_loop_delay_ms: {
    kind: "integer",
    summary: "How long whatever the server does may have waited lately before new requests are refused with 503, in milliseconds. 0 = no limit.",
    default: "1000",
  },
  max_memory_mb: {
    kind: "integer",
    summary: "Memory of the server's own process in MiB from which on new requests are refused with 503. 0 = no limit but that of JavaScript's heap.",
    default: "0",
  },
  request_stall_seconds: {
    kind: "integer",
    summary: "How long a client may take for the head of a request, or pause within its body, 1 to 3600 seconds.",
    default: "30",
  },
  websocket_timeout_seconds: {
    kind: "integer",
    summary:
      "How long a WebSocket client (CDP, BiDi, terminal, live view) may send nothing, not even the answer to a ping, before it is disconnected, 1 to 86,400 seconds.",
    default: "120",
  },
  rate_limit_per_key: {
    kind: "integer",
    summary: "Requests a minute with one API key, on all servers together; as many may come at once. 0 = no limit.",
    default: "60000",
  },
  rate_limit_per_organization: { kind: "integer", summary: "Requests a minute with all keys together, likewise.", default: "300000" },
  rate_limit_per_address: {
    kind: "integer",
    summary: "Tries a minute without a valid key from one address, on each server. 0 = no limit.",
    default: "3000",
  },
  idle_timeout_seconds: { kind: "integer", summary: "Idle timeout of sessions that ask for none, 10 to 259200 seconds.", default: "60" },
  idempotency_retention_hours: { kind: "integer", summary: "How long the answer to an Idempotency-Key is kept, 1 to 720 hours.", default: "24" },
  audit_retention_days: { kind: "integer", summary: "How long entries of the audit log are kept, 1 to 36500 days.", default: "365" },
  audit_export_identity: {
    kind: "text",
    summary:
      "What the service signs with when it takes on roles to export the audit log: aws://key:secret@region, lasting keys and the region whose STS is asked. The same on every replica.",
    default: "none, no exports",
    secret: true,
  },
  audit_export_role_arn: {
    kind: "text",
    summary: "ARN of the user or role that those keys belong to; shown as kernel_role_arn, for trust policies.",
    default: "none",
  },
  audit_export_seconds: {
    kind: "integer",
    summary: "How long entries of the audit log wait for others before they are exported, 1 to 3600 seconds.",
    default: "60",
  },
  audit_export_sts_url: { kind: "text", summary: "STS to ask instead of AWS's own, as MinIO and Ceph have one.", default: "AWS's, of that region" },
  audit_export_s3_url: {
    kind: "text",
    summary: "S3-compatible store that all buckets of exports are in, instead of AWS's own; asked by path.",
    default: "AWS's, of the destination's region",
  },
  telemetry_retention_days: {
    kind: "integer",
    summary: "How long telemetry is kept after the latest event of its session, 1 to 3650 days.",
    default: "30",
  },
  replay_retention_days: { kind: "integer", summary: "How long recordings of sessions are kept after their end, 1 to 3650 days.", default: "30" },
  replay_max_running: { kind: "integer", summary: "Recordings of one project that run on this server at once, 1 to 100000.", default: "50" },
  replay_max_gib: {
    kind: "integer",
    summary: "Space of the recordings of one project on this server, 1 to 1048576 GiB. One that runs when it is used up ends there.",
    default: "50",
  },
  profile_versions: { kind: "integer", summary: "Saved states that are kept of each profile, 1 to 1000.", default: "10" },
  profile_checkpoint_seconds: {
    kind: "integer",
    summary: "How often a session that saves its profile does so while it is used, 1 to 86400 seconds; 0 = only at its end.",
    default: "60",
  },
  profile_max_mib: { kind: "integer", summary: "Largest saved state of a profile, compressed, 1 to 1048576 MiB.", default: "1024" },
  live_view_hours: {
    kind: "integer",
    summary: "How long an address of a live view holds, 1 to 168 hours; a session's end ends it too.",
    default: "24",
  },
  live_view_frame_ancestors: {
    kind: "list",
    summary: "Sites that may show live views in a frame: origins, self for this one, * for all. With an empty list none may.",
    default: "*",
  },
  drain_seconds: { kind: "integer", summary: "How long a stop waits for requests in flight, 0 to 3600 seconds.", default: "10" },
  shutdown_seconds: {
    kind: "integer",
    summary: "How long a stop waits in all, drain_seconds included, before it cuts requests and sessions that still save, 1 to 3600 seconds.",
    default: "80",
  },
  unknown_fields: {
    kind: "text",
    summary:
      "ignore: drop body fields and query parameters that the API does not know, and list them in the answer header X-Shoal-Ignored-Fields and in the log. refuse: answer 400 and name them.",
    default: "ignore",
  },
  metrics_port: { kind: "integer", summary: "Port that /metrics, for Prometheus, is served on; 0 takes a free one.", default: "none" },
  metrics_host: { kind: "text", summary: "Address of that port. Beyond loopback only with metrics_token.", default: "127.0.0.1" },
  metrics_token: {
    kind: "text",
    summary:
      "What must be sent as a bearer token to read the metrics, 16 characters or more; without metrics_port they are served beside the API then.",
    default: "none",
    secret: true,
  },
  otlp_endpoint: {
    kind: "text",
    summary:
      "OpenTelemetry collector that traces are sent to (OTLP over HTTP), without /v1/traces. The other OTEL_ variables hold too: OTEL_SERVICE_NAME, OTEL_TRACES_SAMPLER, OTEL_EXPORTER_OTLP_HEADERS.",
    default: "none, no traces",
    env: ["OTEL_EXPORTER_OTLP_ENDPOINT"],
  },
  access_log: { kind: "path", summary: "File that gets a JSON line for each request, or - for the standard output.", default: "none" },
  log_level: { kind: "text", summary: "trace, debug (each request), info, warn, error, fatal or silent.", default: "info" },
  log_format: { kind: "text", summary: "pretty, json, or auto: pretty on a terminal.", default: "auto" },
  ready_file: { kind: "path", summary: 'File that gets {"base_url", "api_key", "pid"} once the service answers.', default: "none" },
  new_admin_key: {
    kind: "boolean",
    summary: "Make another admin key at this start, for when the first one is lost.",
    default: "false",
    flagOnly: true,
  },
  accept_audit_head: {
    kind: "boolean",
    summary: "Take the audit log as it is at this start for whole, after the database was restored from a backup. An entry of the log says so.",
    default: "false",
    flagOnly: true,
  },
};

/** `--data-dir` for `data_dir`. */
export function flagOf(name: string): string {
  return `--${name.replaceAll("_", "-")}`;
}

/** Environment variables that hold a setting, the first one that is set wins. */
export function environmentOf(name: SettingName): readonly string[] {
  return settings[name].flagOnly ? [] : [`SHOAL_${name.toUpperCase()}`, ...(settings[name].env ?? [])];
}

/** The region of a server that nobody has named one for. Rows from before there were regions have it too. */
export const defaultRegion = "default";

/** The system's folder for Shoal's data. */
export function defaultDataDir(env: NodeJS.ProcessEnv): string {
  if (process.platform === "win32") return join(env.LOCALAPPDATA ?? join(homedir(), "AppData", "Local"), "shoal");
  if (process.platform === "darwin") return join(homedir(), "Library", "Application Support", "shoal");
  return join(env.XDG_DATA_HOME ?? join(homedir(), ".local", "share"), "shoal");
}

/** Room for the files of a session: they are in memory, of which a session without other limits leaves half. */
export function defaultSessionDiskMb(): number {
  return Math.max(leastSessionDiskMb, Math.min(2048, Math.floor(machineMemoryBytes() / 2 / 2 ** 20)));
}

/** Sessions that the machine's memory (or the container's limit) has room for. */
export function defaultMaxSessions(): number {
  return Math.min(500, Math.max(4, Math.floor(machineMemoryBytes() / (256 * 1024 * 1024))));
}

/** Memory of the machine, or of the container if that is limited. */
function machineMemoryBytes(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(totalmem(), limit) : totalmem();
}
