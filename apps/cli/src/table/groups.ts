import type { Group } from "../core/types.ts";

export const groups: Readonly<Record<string, Group>> = {
  apps: {
    description: "List and delete deployed apps",
    alias: ["app"],
    examples: ["shoal apps list", "shoal apps history shop", "shoal apps delete shop"],
  },
  "api-keys": {
    description: "Manage API keys",
    alias: ["api-key", "apikeys", "apikey"],
    examples: ["shoal api-keys create --name ci --expires-in 90d", "shoal api-keys list"],
  },
  "audit-logs": {
    description: "Search, verify and export the audit log",
    alias: ["audit-log", "auditlogs", "auditlog"],
    examples: ["shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z"],
  },
  "audit-logs export": {
    description: "Manage the destinations that the audit log is copied to",
    alias: ["exports", "export-destinations"],
    examples: ["shoal audit-logs export list"],
  },
  auth: {
    description: "Show the caller, and manage logins to sites",
    examples: ["shoal auth connect example.com --profile shop", "shoal auth connections list"],
  },
  "auth connections": {
    description: "Manage profiles that stay signed in to sites",
    alias: ["connection"],
    examples: [
      "shoal auth connections list",
      "shoal auth connections create --domain example.com --profile-name shopping",
    ],
  },
  "browser-pools": {
    description: "Manage pools of ready browsers",
    alias: ["browser-pool", "pools", "pool"],
    examples: ["shoal browser-pools list", "shoal browser-pools create --name workers --size 3"],
  },
  browsers: {
    description: "Start, use and end browser sessions",
    alias: ["browser"],
    examples: ["shoal browsers create --name research", "shoal browsers list", "shoal browsers delete research"],
  },
  "browsers computer": {
    description: "Control mouse, keyboard and clipboard, and take screenshots",
    examples: [
      "shoal browsers computer click-mouse research --x 100 --y 200",
      "shoal browsers computer screenshot research -f page.png",
    ],
  },
  "browsers extensions": {
    description: "Load extensions into a running session",
    examples: ["shoal browsers extensions upload research ./my-extension"],
  },
  "browsers fs": {
    description: "Manage files in a session",
    examples: [
      "shoal browsers fs list-files research /home/shoal/Downloads",
      "shoal browsers fs upload research a.csv --to /home/shoal/work",
      "shoal browsers fs watch research /home/shoal/Downloads",
    ],
  },
  "browsers fs watch": {
    description: "Follow changes in a directory until Ctrl-C, or manage watches with the commands below",
    usage: "[options] [id-or-name] <path>\n       shoal browsers fs watch [command]",
    examples: [
      "shoal browsers fs watch research /home/shoal/Downloads",
      "shoal browsers fs watch research /home/shoal --recursive -o jsonl",
    ],
  },
  "browsers logs": {
    description: "Follow the logs of a session",
    examples: ["shoal browsers logs stream research --source supervisor"],
  },
  "browsers playwright executors": {
    description: "List and delete names for Playwright code that keeps a tab",
    examples: ["shoal browsers playwright executors list research"],
  },
  "browsers playwright": {
    description: "Run Playwright code in a session",
    examples: ["shoal browsers playwright execute research 'return page.title()'"],
  },
  "browsers process": {
    description: "Run programs in a session",
    examples: ["shoal browsers process exec research -- ls -la /home/shoal"],
  },
  "browsers downloads": {
    description: "List downloads of a session and save their files",
    examples: [
      "shoal browsers downloads wait research",
      "shoal browsers downloads read research DOWNLOAD -f report.pdf",
    ],
  },
  "browsers replays": {
    description: "Record the screen of a session",
    examples: [
      "shoal browsers replays start research",
      "shoal browsers replays download research REPLAY -f session.mp4",
    ],
  },
  "browsers tools": {
    description: "List and call tools that pages register for agents",
    examples: ["shoal browsers tools list research"],
  },
  "browsers webmcp": {
    description: "List and call tools of all tabs by their references",
    examples: ["shoal browsers webmcp list-tools research"],
  },
  "browsers telemetry": {
    description: "Follow network, console and page events of a session",
    examples: ["shoal browsers telemetry stream research"],
  },
  search: {
    description: "Search the web through a provider of the operator",
    examples: ['shoal search create --search "fish recipes"', "shoal search providers"],
  },
  flows: {
    description: "Repeat actions on pages without a model",
    alias: ["flow"],
    examples: ["shoal flows record research --name order"],
  },
  "flows runs": {
    description: "Follow and cancel runs of a flow",
    examples: [`shoal flows runs list m3x1p0v2k7c9q5w8z6t4r2yh`],
  },
  "network-recordings": {
    description: "List and delete recorded answers of the network",
    alias: ["network-recording"],
    examples: ["shoal network-recordings list"],
  },
  snapshots: {
    description: "List and delete stored states of sessions",
    examples: ["shoal snapshots list"],
  },
  "evidence-key": {
    description: "Show the key that signs evidence",
    examples: ["shoal evidence-key get"],
  },
  "bot-identity": {
    description: "Manage the keys that sign requests of sessions",
    examples: ["shoal bot-identity get"],
  },
  credentials: {
    description: "Manage encrypted credentials for logins",
    alias: ["credential", "creds", "cred"],
    examples: ["shoal credentials list"],
  },
  "credential-providers": {
    description: "Manage password managers that supply credentials",
    alias: ["credential-provider", "cred-providers", "cred-provider"],
    examples: ["shoal credential-providers list"],
  },
  vaults: {
    description: "Manage vaults of login data",
    alias: ["vault"],
    examples: ["shoal vaults list"],
  },
  "vaults items": {
    description: "Manage the items of a vault",
    alias: ["item"],
    examples: ["shoal vaults items list logins"],
  },
  deployments: {
    description: "Manage deployments of apps",
    alias: ["deployment"],
    examples: ["shoal deployments list", "shoal deployments follow DEPLOYMENT"],
  },
  extensions: {
    description: "Manage browser extensions",
    alias: ["extension"],
    examples: ["shoal extensions upload ./my-extension --name blocker", "shoal extensions list"],
  },
  invocations: {
    description: "Invoke actions of apps",
    alias: ["invocation"],
    examples: ["shoal invocations list", "shoal invocations get INVOCATION --watch"],
  },
  org: {
    description: "Show the organisation and change its limits",
    alias: ["organization"],
    examples: ["shoal org limits get"],
  },
  "org limits": { description: "Show and change the limits of the organisation", examples: ["shoal org limits get"] },
  profiles: {
    description: "Manage saved browser state",
    alias: ["profile"],
    examples: ["shoal profiles create --name shopping", "shoal profiles list"],
  },
  "profiles storage-state": {
    description: "Read and replace the cookies and local storage of a profile",
    examples: ["shoal profiles storage-state get shopping"],
  },
  "profiles versions": {
    description: "List the saved states of a profile",
    examples: ["shoal profiles versions list shopping"],
  },
  projects: {
    description: "Manage projects, which separate browsers, profiles and keys",
    alias: ["project"],
    examples: ["shoal projects create research", "shoal projects list"],
  },
  "projects legacy": {
    description: "Manage projects through deprecated paths",
    examples: ["shoal projects legacy list"],
  },
  "projects legacy limits": {
    description: "Manage limits of projects through deprecated paths",
    examples: ["shoal projects legacy limits get research"],
  },
  "projects limits": {
    description: "Show and change the limits of a project",
    examples: ["shoal projects limits get research"],
  },
  proxies: {
    description: "Manage proxies that sessions can use",
    alias: ["proxy"],
    examples: ["shoal proxies list"],
  },
  usage: {
    description: "Show usage by day, or export it with the command below",
    usage: "[options]\n       shoal usage [command]",
    examples: ["shoal usage", "shoal usage list --from 30d --group api_key", "shoal usage export > usage.csv"],
  },
  webhooks: {
    description: "Manage addresses that receive events",
    alias: ["webhook"],
    examples: [
      "shoal webhooks create --url https://example.com/hooks --event-types auth.needs_human",
      "shoal webhooks deliveries list m3x1p0v2k7c9q5w8z6t4r2yh",
    ],
  },
  "webhooks deliveries": {
    description: "Show deliveries of a webhook, and send events again",
    alias: ["delivery"],
    examples: ["shoal webhooks deliveries list m3x1p0v2k7c9q5w8z6t4r2yh --status failed"],
  },
  schedules: {
    description: "Invoke actions of apps regularly",
    alias: ["schedule"],
    examples: [
      `shoal schedules create --app-name shop --action-name report --cron "0 9 * * 1-5"`,
      "shoal schedules list",
    ],
  },
  telemetry: { description: "Send telemetry to other systems", examples: ["shoal telemetry destinations list"] },
  "telemetry destinations": {
    description: "Manage the OpenTelemetry receivers of session events",
    alias: ["destination", "dest"],
    examples: ["shoal telemetry destinations list"],
  },
};
