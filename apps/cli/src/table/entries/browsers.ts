import type { CommandEntry } from "../../core/types.ts";

const running = { field: "status", until: ["deleted"] } as const;

export const browserEntries: Readonly<Record<string, CommandEntry>> = {
  "browsers.create": {
    onByDefault: ["headless"],
    summary: "Start a browser session",
    about: "Returns when the browser accepts CDP connections.",
    help: {
      name: "Name, unique among the running sessions of the project",
      replay: "Network recording that answers the requests, as an object",
      snapshot: "Snapshot to start from, as an object",
      telemetry:
        'Telemetry to capture: {"browser":{"console":{},"network":{}}}; default: of the project or the service',
    },
    first: ["session_id", "name"],
    brief: [
      "Started session {name|session_id}.",
      "",
      "ID          {session_id}",
      "Live view   {browser_live_view_url}",
      "Open page   shoal open --session {name|session_id} example.com",
      "All fields  shoal browsers get {name|session_id}",
      "End         shoal browsers rm {name|session_id}, or {timeout_seconds} s without use",
    ],
    next: [
      "",
      "Connect with Playwright: chromium.connect(playwright_ws_url) or chromium.connectOverCDP(cdp_ws_url), or Puppeteer: puppeteer.connect({ browserWSEndpoint: cdp_ws_url }).",
      "The session ends after {timeout_seconds} idle seconds, or with: shoal browsers delete {name|session_id}",
    ],
    flags: {
      tags: "--tag",
      timeout_seconds: "-t, --timeout-seconds",
      headless: "-H, --headless",
      stealth: "-s, --stealth",
      "network.allow": "--allow",
      "network.allowed_hosts": "--allowed-host",
      "network.deny": "--deny",
    },
    examples: [
      "shoal browsers create --name research --timeout-seconds 600",
      "shoal browsers create --allow example.com --allow '*.example.com:443' --deny ads.example.com",
      "shoal browsers create --tag team=search --viewport 1280x800 --query cdp_ws_url",
    ],
  },
  "browsers.list": {
    summary: "List browser sessions",
    about: "Newest first. Lists running sessions unless --status is given.",
    help: {
      status: "List active, deleted or all sessions",
      include_deleted: "Deprecated: use --status all",
      query: "Part of the name or ID of the session, its profile, proxy or pool",
      region: "Only sessions in this region",
      tags: "Only sessions with this label",
    },
    flags: { tags: "--tag", query: "--search" },
    rows: "sessions",
    columns: [
      ["ID", "session_id"],
      ["NAME", "name"],
      ["STATUS", "status"],
      ["PAGE", "page_url"],
      ["AGE", "age"],
      ["LAST USED", "last_used"],
    ],
    empty: "No browsers. Start one: shoal browsers create",
    watch: { field: "status", until: [] },
    examples: [
      "shoal browsers list",
      "shoal browsers list --status all --tag team=search",
      "shoal browsers list --query '[].session_id' -o jsonl",
      "shoal browsers list --watch",
    ],
  },
  "browsers.get": {
    summary: "Show a browser session",
    about: "Use --include-deleted to find a session that has ended, by ID.",
    help: { include_deleted: "Also find a session that has ended" },
    first: ["session_id", "name"],
    watch: running,
    examples: [
      "shoal browsers get research",
      "shoal browsers get research --query cdp_ws_url",
      "shoal browsers get research --watch",
    ],
  },
  "browsers.stats": {
    summary: "Show the load of a browser session",
    about: "Processor, memory, pages and clients. Does not count as use of the session. For all sessions: shoal top.",
    examples: ["shoal browsers stats research", "shoal browsers stats research --query mem_bytes"],
  },
  "browsers.extend": {
    summary: "Extend a running browser session",
    about: "Restarts the idle timeout and, with --max-duration-seconds, moves the end of the session.",
    help: {
      max_duration_seconds: "Seconds from now until the session ends even if it is in use, 10 to 604800 (7 days)",
    },
    first: ["session_id", "ends_at", "expires_at"],
    examples: ["shoal browsers extend research", "shoal browsers extend research --max-duration-seconds 3600"],
  },
  "browsers.fork": {
    summary: "Fork a running browser session",
    about:
      "Starts sessions with the cookies, storage, open tabs and settings of a running one, which continues. Their pages load again.",
    help: {
      count: "Number of sessions to start, 1 to 32; default: the number of names, or 1",
      names: "Name of a new session, in their order",
      timeout_seconds: "Idle seconds until a new session ends, 10 to 259200 (72 hours); default: as the forked one",
      mode: "exact copies the processes, restored starts browsers with the state, best takes exact where possible",
    },
    flags: { names: "--name", count: "-n, --count" },
    examples: [
      "shoal browsers fork research --count 8",
      "shoal browsers fork research --name left --name right --query 'browsers[].session_id'",
    ],
  },
  "browsers.snapshot": {
    summary: "Take a snapshot of a running browser session",
    about:
      "Stores its state, from which shoal browsers create --snapshot-id ID starts sessions later. The session continues.",
    help: {
      name: "Name of the snapshot, for people",
      stop: "End the session once its state is stored",
      mode: "exact stores the processes, restored the cookies, storage and tabs, best takes exact where possible",
    },
    examples: [
      'shoal browsers snapshot research --name "signed in"',
      "shoal browsers snapshot research --stop --query id",
    ],
  },
  "browsers.update": {
    summary: "Change a running browser session",
    about: "Only the given flags change.",
    help: {
      name: "New name, unique among the running sessions of the project",
      tags: "Label; the given labels replace all existing ones",
      viewport: "New size of the visible page",
      start_url: "Page to open in the front tab, after the other changes",
      location: "New time zone and language, as an object; restarts the browser",
      conditions: "New permissions, position and preferences of pages, as an object; restarts the browser",
      chrome_policy: "New policies, replacing the old ones; {} removes them. CDP clients may be disconnected",
    },
    first: ["session_id", "name"],
    flags: {
      tags: "--tag",
      "network.allow": "--allow",
      "network.allowed_hosts": "--allowed-host",
      "network.deny": "--deny",
    },
    examples: [
      "shoal browsers update research --name archive",
      "shoal browsers update research --start-url https://example.com",
      "shoal browsers update research --deny '*.example.com'",
      "shoal browsers update research --tag team=search --tag stage=2",
      "shoal browsers update research --location-timezone America/New_York",
    ],
  },
  // No confirmation: sessions are short-lived, scripts end many, and profiles are saved first.
  "browsers.delete": {
    summary: "End browser sessions",
    about: "Ends the browser and its processes, and deletes its files.",
    many: true,
    done: "Ended browser {0}.",
    examples: ["shoal browsers delete research", "shoal browsers delete research archive"],
  },
  "browsers.saveProfile": {
    summary: "Save the session's state to its profile",
    about:
      "The session must save changes to its profile: see --profile-save-changes of shoal browsers create. Local storage and databases may lack the last seconds.",
  },
};
