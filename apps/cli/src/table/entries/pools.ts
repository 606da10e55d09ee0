import type { CommandEntry } from "../../core/types.ts";

const search = { query: "--search" } as const;
const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const created = ["CREATED", "created_at"] as const;
const name = ["NAME", "name"] as const;
const id = ["ID", "id"] as const;
const pool = {
  first: ["id", "name"],
  flags: {
    timeout_seconds: "-t, --timeout-seconds",
    fill_rate_per_minute: "--fill-rate",
    "network.allow": "--allow",
    "network.allowed_hosts": "--allowed-host",
    "network.deny": "--deny",
  },
} as const;

const everyChange = { field: "status", until: [] } as const;

export const poolEntries: Readonly<Record<string, CommandEntry>> = {
  "browserPools.create": {
    onByDefault: ["headless"],
    summary: "Create a browser pool",
    about: "The pool fills in the background. All its browsers count towards the limits of the project.",
    help: {
      name: "Name, unique in the project: letters, digits, dots, underscores and hyphens",
      "profile.save_changes": "Has no effect: browsers of a pool never save to the profile",
      timeout_seconds: "End a leased browser after this many idle seconds, 10 to 259200 (72 hours)",
      region: "Region of the browsers; cannot be changed later",
      telemetry:
        'Telemetry to capture: {"browser":{"console":{},"network":{}}}; default: of the project or the service',
    },
    ...pool,
    examples: ["shoal browser-pools create --name workers --size 3"],
  },
  "browserPools.list": {
    summary: "List browser pools",
    about: "Newest first.",
    help: { region: "Filter by region" },
    columns: [id, name, ["FREE", "available_count"], ["TAKEN", "acquired_count"], created],
    flags: search,
    empty: "No pools. Create one: shoal browser-pools create --name NAME --size 3",
    watch: everyChange,
    examples: ["shoal browser-pools list", "shoal browser-pools list --watch"],
  },
  "browserPools.get": {
    summary: "Show a browser pool",
    first: ["id", "name"],
    watch: everyChange,
    examples: ["shoal browser-pools get workers", "shoal browser-pools get workers --watch"],
  },
  "browserPools.update": {
    summary: "Change a browser pool",
    about:
      "Only the given flags change. Existing browsers keep their configuration unless --discard-all-idle is given.",
    help: {
      name: "New name, unique in the project",
      "profile.save_changes": "Has no effect: browsers of a pool never save to the profile",
      timeout_seconds: "End browsers leased from now on after this many idle seconds, 10 to 259200 (72 hours)",
      headless: "Run without a window; --no-headless shows one",
      extensions: "Extensions to load, up to 20; replaces the list",
      viewport: "New size of the visible page",
      expected_network: "Network settings that the pool must still have, as an object; else nothing changes",
      "expected_network.private_hosts": "Private host that the pool must still list",
      "expected_network.allow": "Host of --allow that the pool must still list",
      "expected_network.deny": "Host of --deny that the pool must still list",
      "expected_network.allowed_hosts": "Host of --allowed-host that the pool must still list",
    },
    ...pool,
    confirm: "Replace all idle browsers of pool {0}?",
    confirmOnly: { field: "discard_all_idle", value: true },
    examples: [
      "shoal browser-pools update workers --size 5",
      "shoal browser-pools update workers --stealth --discard-all-idle --yes",
    ],
  },
  "browserPools.delete": {
    summary: "Delete a browser pool",
    about: "Ends its idle browsers. Fails while browsers are leased, unless --force is given.",
    help: { force: "Also end leased browsers" },
    confirm: "Delete pool {0} and its idle browsers?",
    done: "Deleted pool {0}.",
    examples: ["shoal browser-pools delete workers --yes", "shoal browser-pools delete workers --force --yes"],
  },
  "browserPools.acquire": {
    summary: "Lease a browser from a pool",
    about: "Waits for a browser if none is ready. Return it with shoal browser-pools release.",
    help: {
      name: "Name for this lease, unique among the running sessions of the project",
      tags: "Label for this lease",
      start_url: "Page to open, for this lease",
      "profile.save_changes": "Refused: browsers of a pool never save to a profile",
      telemetry: "Telemetry to capture in addition, for this lease",
    },
    first: ["session_id", "name"],
    flags: { tags: "--tag", acquire_timeout_seconds: "-t, --acquire-timeout-seconds" },
    nothing: "No browser became available in time. Try again, or increase --size of the pool.",
    examples: [
      "shoal browser-pools acquire workers",
      "shoal browser-pools acquire workers --acquire-timeout-seconds 30 --query cdp_ws_url",
    ],
  },
  "browserPools.release": {
    summary: "Return a leased browser to its pool",
    about: "Ends the session. The next lease gets a clean browser.",
    done: "Returned the browser.",
    examples: [`shoal browser-pools release workers --session-id ${exampleId}`],
  },
  "browserPools.flush": {
    summary: "Replace all idle browsers of a pool",
    about: "Leased browsers are not affected.",
    confirm: "Replace all idle browsers of pool {0}?",
    done: "Replaced the idle browsers of {0}.",
    examples: ["shoal browser-pools flush workers --yes"],
  },
  "proxies.create": {
    summary: "Create a proxy",
    about: "The type custom is your own proxy server. The operator of the service provides the other types.",
    help: {
      name: "Name, up to 255 characters; need not be unique",
      type: "custom is your own proxy server; the operator provides the other types",
    },
    flags: Object.fromEntries(
      ["host", "port", "username", "password", "ca_bundle", "country", "city", "state", "zip", "asn", "os"].map(
        (field) => [`config.${field}`, `--${field.replaceAll("_", "-")}`],
      ),
    ),
    examples: [
      "shoal proxies create --name office --type custom --protocol http --host proxy.example.com --port 8080",
      "shoal proxies create --name berlin --type residential --country DE",
    ],
  },
  "proxies.list": {
    summary: "List proxies",
    about: "Newest first.",
    help: { name: "Exact name, ignoring case" },
    columns: [id, name, ["TYPE", "type"], ["STATUS", "status"], ["ADDRESS", "ip_address"], ["CHECKED", "last_checked"]],
    flags: search,
    empty: "No proxies. Create one: shoal proxies create --help",
    examples: ["shoal proxies list"],
  },
  "proxies.get": { summary: "Show a proxy", examples: [`shoal proxies get ${exampleId}`] },
  "proxies.update": {
    summary: "Rename a proxy",
    help: { name: "New name, up to 255 characters" },
    examples: [`shoal proxies update ${exampleId} --name office`],
  },
  "proxies.delete": {
    summary: "Delete a proxy",
    about: "Running sessions keep using it.",
    confirm: "Delete proxy {0}?",
    done: "Deleted proxy {0}.",
    examples: [`shoal proxies delete ${exampleId} --yes`],
  },
  "proxies.check": {
    summary: "Check a proxy",
    about: "Fetches a page through the proxy and saves the result, unless --url is given.",
    help: { url: "Public URL to fetch instead of the test pages; the stored status does not change" },
    first: ["status", "ip_address", "latency_ms"],
    examples: [`shoal proxies check ${exampleId}`],
  },
  "extensions.upload": {
    summary: "Upload an extension",
    about: "Takes a folder or a ZIP archive of up to 50 MiB.",
    help: {
      file: "Folder or ZIP archive of the unpacked extension, up to 50 MiB",
      name: "Name, unique in the project: letters, digits, dots, underscores and hyphens",
    },
    arguments: ["file"],
    examples: [
      "shoal extensions upload ./my-extension --name blocker",
      "shoal extensions upload blocker.zip --name blocker",
    ],
  },
  "extensions.list": {
    summary: "List extensions",
    about: "Newest first.",
    columns: [id, name, ["SIZE", "size_bytes"], created, ["LAST USED", "last_used_at"]],
    flags: search,
    empty: "No extensions. Upload one: shoal extensions upload FOLDER",
    examples: ["shoal extensions list"],
  },
  "extensions.get": { summary: "Show an extension", examples: ["shoal extensions get blocker"] },
  "extensions.download": {
    summary: "Download an extension",
    about: "The ZIP archive as uploaded.",
    examples: ["shoal extensions download blocker -f blocker.zip"],
  },
  "extensions.downloadFromChromeStore": {
    summary: "Download an extension from the Chrome Web Store",
    about: "Saves a ZIP archive. Upload it with shoal extensions upload to use it in sessions.",
    help: { url: "URL of the extension's page in the Chrome Web Store" },
    words: ["extensions", "download-web-store"],
    arguments: ["url"],
    examples: ["shoal extensions download-web-store https://chromewebstore.google.com/detail/NAME/ID -f extension.zip"],
  },
  "extensions.delete": {
    summary: "Delete an extension",
    about: "Running sessions keep it.",
    confirm: "Delete extension {0}?",
    done: "Deleted extension {0}.",
    examples: ["shoal extensions delete blocker --yes"],
  },
};
