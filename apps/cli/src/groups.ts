/** What help says of a group of commands. */
export interface Group {
  readonly description: string;
  readonly alias?: readonly string[];
  readonly usage?: string;
  readonly examples: readonly string[];
}

/** By the group's words. Part of the table of commands, made at build time. */
export const groups: Readonly<Record<string, Group>> = {
  apps: { description: "Programs that were deployed.", alias: ["app"], examples: ["shoal apps list"] },
  "api-keys": {
    description: "Keys that open the service.",
    alias: ["api-key", "apikeys", "apikey"],
    examples: ["shoal api-keys create --name ci --days-to-expire 90", "shoal api-keys list"],
  },
  "audit-logs": {
    description: "Who did what, and when.",
    alias: ["audit-log", "auditlogs", "auditlog"],
    examples: ["shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z"],
  },
  "audit-logs export": {
    description: "Stores to which the audit log is copied as it grows.",
    alias: ["exports", "export-destinations"],
    examples: ["shoal audit-logs export list"],
  },
  auth: { description: "Who a key is, and connections that stay logged in to websites.", examples: ["shoal auth connections list"] },
  "auth connections": {
    description: "Logins to websites, kept in a profile and renewed.",
    alias: ["connection"],
    examples: ["shoal auth connections list", "shoal auth connections create --domain example.com --profile-name shopping"],
  },
  "browser-pools": {
    description: "Browsers that wait, ready to be taken.",
    alias: ["browser-pool", "pools", "pool"],
    examples: ["shoal browser-pools list", "shoal browser-pools create --name workers --size 3"],
  },
  browsers: {
    description: "Start, find, change and end browser sessions.",
    alias: ["browser"],
    examples: ["shoal browsers create --name research", "shoal browsers list", "shoal browsers delete research"],
  },
  "browsers computer": {
    description: "Mouse, keyboard, clipboard and screenshots of a session.",
    examples: ["shoal browsers computer click-mouse research --x 100 --y 200", "shoal browsers computer screenshot research -f page.png"],
  },
  "browsers extensions": {
    description: "Add extensions to a running session.",
    examples: ["shoal browsers extensions upload research ./my-extension"],
  },
  "browsers fs": {
    description: "Files in a browser session.",
    examples: [
      "shoal browsers fs list-files research /home/shoal/Downloads",
      "shoal browsers fs upload research a.csv --to /home/shoal/work",
      "shoal browsers fs watch research /home/shoal/Downloads",
    ],
  },
  "browsers fs watch": {
    description: "Follow changes in a directory: with a session and a path until Ctrl-C, or step by step with the commands below.",
    usage: "[options] <id-or-name> <path>\n       shoal browsers fs watch [command]",
    examples: ["shoal browsers fs watch research /home/shoal/Downloads", "shoal browsers fs watch research /home/shoal --recursive -o jsonl"],
  },
  "browsers logs": { description: "Logs of a session.", examples: ["shoal browsers logs stream research --source supervisor"] },
  "browsers playwright": {
    description: "Run Playwright code inside a session.",
    examples: ["shoal browsers playwright execute research 'return page.title()'"],
  },
  "browsers process": {
    description: "Run and steer programs inside a session.",
    examples: ["shoal browsers process exec research -- ls -la /home/shoal"],
  },
  "browsers replays": {
    description: "Video recordings of a session.",
    examples: ["shoal browsers replays start research", "shoal browsers replays download research REPLAY -f session.mp4"],
  },
  "browsers telemetry": { description: "What happens in a session's pages, as events.", examples: ["shoal browsers telemetry stream research"] },
  credentials: {
    description: "Logins that connections may use, encrypted.",
    alias: ["credential", "creds", "cred"],
    examples: ["shoal credentials list"],
  },
  "credential-providers": {
    description: "Password managers that credentials are read from.",
    alias: ["credential-provider", "cred-providers", "cred-provider"],
    examples: ["shoal credential-providers list"],
  },
  deployments: {
    description: "Versions of apps that were put on the service.",
    alias: ["deployment"],
    examples: ["shoal deployments list", "shoal deployments follow DEPLOYMENT"],
  },
  extensions: {
    description: "Browser extensions that sessions may load.",
    alias: ["extension"],
    examples: ["shoal extensions upload ./my-extension --name blocker", "shoal extensions list"],
  },
  invocations: {
    description: "Runs of an app's actions.",
    alias: ["invocation"],
    examples: ["shoal invocations list", "shoal invocations get INVOCATION --watch"],
  },
  org: { description: "The organisation: its projects and limits.", alias: ["organization"], examples: ["shoal org limits get"] },
  "org limits": { description: "Limits of the organisation.", examples: ["shoal org limits get"] },
  profiles: {
    description: "Saved browser state that sessions start from.",
    alias: ["profile"],
    examples: ["shoal profiles create --name shopping", "shoal profiles list"],
  },
  projects: {
    description: "Projects that keep browsers, profiles and keys apart.",
    alias: ["project"],
    examples: ["shoal projects create research", "shoal projects list"],
  },
  "projects legacy": { description: "Projects at an older path; the commands above do the same.", examples: ["shoal projects legacy list"] },
  "projects legacy limits": { description: "Limits of a project, at an older path.", examples: ["shoal projects legacy limits get research"] },
  "projects limits": { description: "Limits of a project.", examples: ["shoal projects limits get research"] },
  proxies: { description: "Ways into the network that sessions may take.", alias: ["proxy"], examples: ["shoal proxies list"] },
  telemetry: { description: "Where telemetry is sent.", examples: ["shoal telemetry destinations list"] },
  "telemetry destinations": {
    description: "OpenTelemetry endpoints that get the events of sessions.",
    alias: ["destination", "dest"],
    examples: ["shoal telemetry destinations list"],
  },
};
