import type { Polish } from "../polish.ts";

const search = { query: "--search" } as const;
const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const created = ["CREATED", "created_at"] as const;
const name = ["NAME", "name"] as const;
const id = ["ID", "id"] as const;
const pool = { first: ["id", "name"], flags: { timeout_seconds: "-t, --timeout-seconds", fill_rate_per_minute: "--fill-rate" } } as const;

const everyChange = { field: "status", until: [] } as const;

/** Pools, proxies, extensions, credentials, connections, apps: what sessions use, and what uses them. */
export const resourcePolish: Readonly<Record<string, Polish>> = {
  "browserPools.create": { ...pool, examples: ["shoal browser-pools create --name workers --size 3"] },
  "browserPools.list": {
    columns: [id, name, ["FREE", "available_count"], ["TAKEN", "acquired_count"], created],
    flags: search,
    empty: "No pools. Make one: shoal browser-pools create --name NAME --size 3",
    watch: everyChange,
    examples: ["shoal browser-pools list", "shoal browser-pools list --watch"],
  },
  "browserPools.get": {
    first: ["id", "name"],
    watch: everyChange,
    examples: ["shoal browser-pools get workers", "shoal browser-pools get workers --watch"],
  },
  "browserPools.update": {
    ...pool,
    confirm: "End the browsers that wait in pool {0}, and start others?",
    confirmOnly: { field: "discard_all_idle", value: true },
    examples: ["shoal browser-pools update workers --size 5", "shoal browser-pools update workers --stealth --discard-all-idle --yes"],
  },
  "browserPools.delete": {
    confirm: "Delete pool {0} and the browsers that wait in it?",
    done: "Deleted pool {0}.",
    examples: ["shoal browser-pools delete workers --yes", "shoal browser-pools delete workers --force --yes"],
  },
  "browserPools.acquire": {
    first: ["session_id", "name"],
    flags: { tags: "--tag", acquire_timeout_seconds: "-t, --acquire-timeout-seconds" },
    nothing: "No browser became free in time. Try again, or make the pool larger.",
    examples: ["shoal browser-pools acquire workers", "shoal browser-pools acquire workers --acquire-timeout-seconds 30 --query cdp_ws_url"],
  },
  "browserPools.release": { done: "Gave the browser back.", examples: [`shoal browser-pools release workers --session-id ${exampleId}`] },
  "browserPools.flush": {
    confirm: "End the browsers that wait in pool {0}, and start others?",
    done: "Replaced the browsers that waited in {0}.",
    examples: ["shoal browser-pools flush workers --yes"],
  },
  "proxies.create": {
    flags: Object.fromEntries(
      ["host", "port", "username", "password", "ca_bundle", "country", "city", "state", "zip", "asn", "os"].map((field) => [
        `config.${field}`,
        `--${field.replaceAll("_", "-")}`,
      ]),
    ),
    examples: [
      "shoal proxies create --name office --type custom --protocol http --host proxy.example.com --port 8080",
      "shoal proxies create --name berlin --type residential --country DE",
    ],
  },
  "proxies.list": {
    columns: [id, name, ["TYPE", "type"], ["STATUS", "status"], ["ADDRESS", "ip_address"], ["CHECKED", "last_checked"]],
    flags: search,
    empty: "No proxies.",
    examples: ["shoal proxies list"],
  },
  "proxies.get": { examples: [`shoal proxies get ${exampleId}`] },
  "proxies.update": { examples: [`shoal proxies update ${exampleId} --name office`] },
  "proxies.delete": { confirm: "Delete proxy {0}?", done: "Deleted proxy {0}.", examples: [`shoal proxies delete ${exampleId} --yes`] },
  "proxies.check": { first: ["status", "ip_address", "latency_ms"], examples: [`shoal proxies check ${exampleId}`] },
  "extensions.upload": {
    arguments: ["file"],
    examples: ["shoal extensions upload ./my-extension --name blocker", "shoal extensions upload blocker.zip --name blocker"],
  },
  "extensions.list": {
    columns: [id, name, ["SIZE", "size_bytes"], created, ["LAST USED", "last_used_at"]],
    flags: search,
    empty: "No extensions. Add one: shoal extensions upload FOLDER",
    examples: ["shoal extensions list"],
  },
  "extensions.get": { examples: ["shoal extensions get blocker"] },
  "extensions.download": { examples: ["shoal extensions download blocker -f blocker.zip"] },
  "extensions.downloadFromChromeStore": {
    words: ["extensions", "download-web-store"],
    arguments: ["url"],
    examples: ["shoal extensions download-web-store https://chromewebstore.google.com/detail/NAME/ID -f extension.zip"],
  },
  "extensions.delete": { confirm: "Delete extension {0}?", done: "Deleted extension {0}.", examples: ["shoal extensions delete blocker --yes"] },
  "profiles.download": { nothing: "Nothing is saved in the profile yet.", examples: ["shoal profiles download shopping -f shopping.tar.zst"] },
  "credentials.create": {
    flags: { values: "--value" },
    examples: ["shoal credentials create --name shop --domain example.com --value username=me --value password=SECRET"],
  },
  "credentials.list": {
    columns: [id, name, ["DOMAIN", "domain"], ["TOTP", "has_totp_secret"], created],
    flags: search,
    empty: "No credentials.",
    examples: ["shoal credentials list --domain example.com"],
  },
  "credentials.get": { examples: ["shoal credentials get shop"] },
  "credentials.update": {
    flags: { values: "--value", remove_value_keys: "--remove-value-key" },
    examples: ["shoal credentials update shop --value password=NEW"],
  },
  "credentials.delete": { confirm: "Delete credential {0}?", done: "Deleted credential {0}.", examples: ["shoal credentials delete shop --yes"] },
  "credentials.totpCode": { text: "code", examples: ["shoal credentials totp-code shop"] },
  "credentialProviders.create": {
    flags: { cache_ttl_seconds: "--cache-ttl" },
    examples: ["shoal credential-providers create --name vault --provider-type onepassword --token TOKEN"],
  },
  "credentialProviders.list": {
    columns: [id, name, ["TYPE", "provider_type"], ["ENABLED", "enabled"], ["PRIORITY", "priority"], created],
    flags: search,
    empty: "No credential providers.",
    examples: ["shoal credential-providers list"],
  },
  "credentialProviders.get": { examples: [`shoal credential-providers get ${exampleId}`] },
  "credentialProviders.update": {
    flags: { cache_ttl_seconds: "--cache-ttl" },
    examples: [`shoal credential-providers update ${exampleId} --no-enabled`],
  },
  "credentialProviders.delete": {
    confirm: "Delete credential provider {0}?",
    done: "Deleted credential provider {0}.",
    examples: [`shoal credential-providers delete ${exampleId} --yes`],
  },
  "credentialProviders.listItems": { examples: [`shoal credential-providers list-items ${exampleId}`] },
  "credentialProviders.test": { examples: [`shoal credential-providers test ${exampleId}`] },
  "auth.connections.create": {
    flags: { allowed_domains: "--allowed-domain" },
    first: ["id", "domain", "status"],
    examples: [
      "shoal auth connections create --domain example.com --profile-name shopping",
      "shoal auth connections create --domain example.com --profile-name shopping --credential-name shop",
    ],
  },
  "auth.connections.list": {
    columns: [
      id,
      ["DOMAIN", "domain"],
      ["PROFILE", "profile_name"],
      ["STATUS", "status"],
      ["FLOW", "flow_status"],
      ["CHECKED", "last_auth_check_at"],
    ],
    flags: search,
    empty: "No connections.",
    watch: everyChange,
    examples: ["shoal auth connections list", "shoal auth connections list --watch"],
  },
  "auth.connections.get": {
    first: ["id", "domain", "status"],
    watch: { field: "status", until: ["AUTHENTICATED"] },
    examples: [`shoal auth connections get ${exampleId}`, `shoal auth connections get ${exampleId} --watch`],
  },
  "auth.connections.update": {
    flags: { allowed_domains: "--allowed-domain" },
    examples: [`shoal auth connections update ${exampleId} --no-auto-reauth`],
  },
  "auth.connections.delete": {
    confirm: "Delete connection {0}?",
    done: "Deleted connection {0}.",
    examples: [`shoal auth connections delete ${exampleId} --yes`],
  },
  "auth.connections.login": {
    first: ["id", "hosted_url"],
    next: ["", "Log in at {hosted_url}, or follow with: shoal auth connections follow {id}"],
    examples: [`shoal auth connections login ${exampleId}`],
  },
  "auth.connections.submit": {
    flags: { field_values: "--field-value", fields: "--field", selected_choice_id: "--choice-id" },
    examples: [`shoal auth connections submit ${exampleId} --field username=me --field password=SECRET`],
  },
  "auth.connections.follow": { examples: [`shoal auth connections follow ${exampleId}`] },
  "auth.connections.timeline": {
    columns: [
      ["TIME", "timestamp"],
      ["TYPE", "type"],
      ["STATUS", "status"],
      ["STEP", "step"],
      ["ERROR", "error_message"],
    ],
    empty: "Nothing has happened yet.",
    examples: [`shoal auth connections timeline ${exampleId}`],
  },
  "auth.connections.exchange": { examples: [`shoal auth connections exchange ${exampleId} --code CODE`] },
  "apps.list": {
    columns: [
      ["APP", "app_name"],
      ["VERSION", "version"],
      ["REGION", "region"],
      ["ACTIONS", "actions"],
      ["DEPLOYMENT", "deployment"],
    ],
    flags: { ...search, app_name: "--name" },
    empty: "No apps. Put one on the service: shoal deploy index.ts",
    examples: ["shoal apps list", "shoal apps list --name shop"],
  },
  "deployments.create": {
    flags: { env_vars: "--env" },
    first: ["id", "status"],
    next: ["", "Follow it with: shoal deployments follow {id}"],
    examples: [
      "shoal deployments create --file app.zip --entrypoint-rel-path index.ts",
      "shoal deployments create --source-type github --source-url https://github.com/me/app --source-ref main --source-entrypoint index.ts",
    ],
  },
  "deployments.list": {
    columns: [id, ["STATUS", "status"], ["ENTRYPOINT", "entrypoint_rel_path"], ["REGION", "region"], created],
    flags: search,
    empty: "No deployments.",
    watch: everyChange,
    examples: ["shoal deployments list --app-name shop", "shoal deployments list --app-name shop --watch"],
  },
  "deployments.get": {
    first: ["id", "status"],
    watch: { field: "status", until: ["running", "failed", "stopped"] },
    examples: [`shoal deployments get ${exampleId}`, `shoal deployments get ${exampleId} --watch`],
  },
  "deployments.delete": {
    confirm: "Delete deployment {0}?",
    done: "Deleted deployment {0}.",
    examples: [`shoal deployments delete ${exampleId} --yes`],
  },
  "deployments.follow": { alias: ["logs"], examples: [`shoal deployments follow ${exampleId}`, `shoal deployments follow ${exampleId} --since 1h`] },
  "invocations.create": {
    first: ["id", "status"],
    next: ["", "Follow it with: shoal invocations follow {id}"],
    examples: [`shoal invocations create --app-name shop --action-name buy --version latest --payload '{"item":1}' --async`],
  },
  "invocations.list": {
    columns: [id, ["APP", "app_name"], ["ACTION", "action_name"], ["STATUS", "status"], ["STARTED", "started_at"], ["FINISHED", "finished_at"]],
    flags: search,
    empty: "No invocations.",
    watch: everyChange,
    examples: ["shoal invocations list --app-name shop --status failed", "shoal invocations list --app-name shop --watch"],
  },
  "invocations.get": {
    first: ["id", "status"],
    watch: { field: "status", until: ["succeeded", "failed"] },
    examples: [`shoal invocations get ${exampleId}`, `shoal invocations get ${exampleId} --watch`],
  },
  "invocations.update": { examples: [`shoal invocations update ${exampleId} --status failed`] },
  "invocations.follow": { examples: [`shoal invocations follow ${exampleId}`] },
  "invocations.listBrowsers": { examples: [`shoal invocations list-browsers ${exampleId}`] },
  "invocations.deleteBrowsers": {
    confirm: "End every browser of invocation {0}?",
    done: "Ended the browsers of invocation {0}.",
    examples: [`shoal invocations delete-browsers ${exampleId} --yes`],
  },
};
