import type { CommandEntry } from "../../core/types.ts";

const search = { query: "--search" } as const;
const exampleId = "m3x1p0v2k7c9q5w8z6t4r2yh";
const created = ["CREATED", "created_at"] as const;
const name = ["NAME", "name"] as const;
const id = ["ID", "id"] as const;
const everyChange = { field: "status", until: [] } as const;

export const loginEntries: Readonly<Record<string, CommandEntry>> = {
  "credentials.create": {
    summary: "Store a credential",
    about: "The values are encrypted and never shown again. On a terminal, Shoal prompts for values without =.",
    help: { domain: "Site, up to 253 characters: example.com", name: "Name, unique in the project" },
    flags: { values: "--value" },
    examples: [
      "shoal credentials create --name shop --domain example.com --value username=me --value password",
      "shoal credentials create --name shop --domain example.com --value username=me --value password=@password.txt",
    ],
  },
  "credentials.list": {
    summary: "List credentials",
    about: "Newest first.",
    columns: [id, name, ["DOMAIN", "domain"], ["TOTP", "has_totp_secret"], created],
    flags: search,
    empty:
      "No credentials. Create one: shoal credentials create --name NAME --domain example.com --value username=ME --value password",
    examples: ["shoal credentials list --domain example.com"],
  },
  "credentials.get": {
    summary: "Show a credential",
    about: "Shows the names of the values, not the values.",
    examples: ["shoal credentials get shop"],
  },
  "credentials.update": {
    summary: "Change a credential",
    about: "Only the given values change.",
    help: {
      values: "Value to add or replace",
      totp_secret: "New Base32 secret or otpauth:// URI; empty removes it",
      name: "New name, unique in the project",
    },
    flags: { values: "--value", remove_value_keys: "--remove-value-key" },
    examples: ["shoal credentials update shop --value password"],
  },
  "credentials.delete": {
    summary: "Delete a credential",
    about: "Connections that use it then ask a person to sign in.",
    confirm: "Delete credential {0}?",
    done: "Deleted credential {0}.",
    examples: ["shoal credentials delete shop --yes"],
  },
  "credentials.totpCode": {
    summary: "Print a one-time code",
    about: "The credential must have a TOTP secret.",
    text: "code",
    examples: ["shoal credentials totp-code shop"],
  },
  "vaults.create": {
    summary: "Create a vault, or show it by name",
    about: "The same name returns the present vault.",
    help: { name: "Letters, digits, dots, underscores and hyphens" },
    examples: ["shoal vaults create --name logins"],
  },
  "vaults.list": {
    summary: "List vaults",
    about: "Newest first.",
    columns: [id, name, created],
    flags: search,
    empty: "No vaults. Create one: shoal vaults create --name NAME",
    examples: ["shoal vaults list --search log"],
  },
  "vaults.get": { summary: "Show a vault", examples: ["shoal vaults get logins"] },
  "vaults.delete": {
    summary: "Delete a vault with its items",
    confirm: "Delete vault {0} with its items?",
    done: "Deleted vault {0}.",
    examples: ["shoal vaults delete logins --yes"],
  },
  "vaults.encryptionKey": {
    summary: "Show the public key of a vault",
    about: "Pages encrypt values to it.",
    examples: ["shoal vaults encryption-key logins"],
  },
  "vaults.items.list": {
    summary: "List the items of a vault",
    about: "Oldest first, without sensitive values.",
    columns: [["KEY", "key"], ["TYPE", "type"], ["VERSION", "version"], created],
    empty: "No items.",
    examples: ["shoal vaults items list logins"],
  },
  "vaults.items.put": {
    summary: "Create an item of a vault",
    about: "The values are encrypted and never shown again. --spec - reads them from stdin.",
    help: {
      type: "Kind of item: credential",
      spec: "Definition with its fields and values, as an object",
      "spec.provider": "Where the values are: kernel (in the vault) or managed_auth (in a connection)",
      "spec.connection_id": "Connection whose credential the item reads",
      "spec.description": "Title of the form for people",
      "spec.sites": "Site of the values, for later versions",
    },
    first: ["id", "key", "version"],
    examples: [
      "shoal vaults items put logins shop --type credential --spec @shop.json",
      `shoal vaults items put logins shop --type credential --spec-provider managed_auth --spec-connection-id ${exampleId}`,
    ],
  },
  "vaults.items.get": {
    summary: "Show an item of a vault",
    about: "Shows which fields have values, and not the values.",
    help: {
      wait: "Seconds to wait until the item is ready, 0 to 60; default: 0",
      expand: "Data of cards and wallets; no item has any",
    },
    first: ["id", "key", "version"],
    examples: ["shoal vaults items get logins shop"],
  },
  "vaults.items.update": {
    summary: "Change an item of a vault",
    about: "All changes or none.",
    help: {
      type: "Kind of item: credential",
      version: "Version of the item that the change is based on",
      expected_item_id: "Fail if the key has another item",
      spec: "Changes as an object",
      "spec.remove_fields": "Field to remove with its value",
      "spec.description": "New title of the form for people",
      "spec.sites": "Site of the values, in place of the old ones",
    },
    first: ["id", "key", "version"],
    examples: ["shoal vaults items update logins shop --type credential --version 1 --spec @change.json"],
  },
  "vaults.items.operate": {
    summary: "Use an item of a vault",
    about: "collect prints the link to a form in which a person enters values. fill types values into a page.",
    help: {
      type: "Operation: collect or fill",
      browser_id: "ID of the session",
      fields: "Fields with their elements, as a list of objects",
      page_url: "Exact address of the page",
      timeout_ms: "Ignored",
    },
    examples: [
      "shoal vaults items operate logins shop --type collect",
      `shoal vaults items operate logins shop --type fill --browser-id ${exampleId} --page-url https://shop.example/login --fields @fields.json`,
    ],
  },
  "vaults.items.delete": {
    summary: "Delete an item of a vault",
    confirm: "Delete item {1} of vault {0}?",
    done: "Deleted item {1}.",
    examples: ["shoal vaults items delete logins shop --yes"],
  },
  "vaults.items.events": {
    summary: "List what happened with an item",
    about: "Oldest first, without values.",
    columns: [id, ["EVENT", "name"], ["SESSION", "browser_id"], created],
    help: { after: "Show events after this one", wait: "Seconds to wait for an event, 0 to 60; default: 0" },
    empty: "No events.",
    examples: ["shoal vaults items events logins shop"],
  },
  "credentialProviders.create": {
    summary: "Connect a password manager",
    about: "The token is encrypted and never shown again. --token - prompts for it or reads stdin.",
    help: { name: "Name, unique in the project" },
    flags: { cache_ttl_seconds: "--cache-ttl", settings: "--setting" },
    examples: [
      "shoal credential-providers create --name team --provider-type onepassword --token - < token.txt",
      "shoal credential-providers create --name vault --provider-type vault --setting address=https://vault.example:8200 --token @token.txt",
    ],
  },
  "credentialProviders.list": {
    summary: "List password managers",
    about: "In the order in which they are asked.",
    columns: [id, name, ["TYPE", "provider_type"], ["ENABLED", "enabled"], ["PRIORITY", "priority"], created],
    flags: search,
    empty: "No password managers. Connect one: shoal credential-providers create --help",
    examples: ["shoal credential-providers list"],
  },
  "credentialProviders.get": {
    summary: "Show a password manager",
    examples: [`shoal credential-providers get ${exampleId}`],
  },
  "credentialProviders.update": {
    summary: "Change a password manager",
    about: "Only the given flags change.",
    help: { name: "New name, unique in the project", settings: "Setting to change; a new address also needs --token" },
    flags: { cache_ttl_seconds: "--cache-ttl", settings: "--setting" },
    examples: [`shoal credential-providers update ${exampleId} --no-enabled`],
  },
  "credentialProviders.delete": {
    summary: "Disconnect a password manager",
    about: "Connections that use its items then ask a person to sign in.",
    confirm: "Delete password manager {0}?",
    done: "Deleted password manager {0}.",
    examples: [`shoal credential-providers delete ${exampleId} --yes`],
  },
  "credentialProviders.listItems": {
    summary: "List the items of a password manager",
    about: "Shows titles and paths, no secrets.",
    examples: [`shoal credential-providers list-items ${exampleId}`],
  },
  "credentialProviders.test": {
    summary: "Test a password manager",
    about: "Lists the vaults that the token can read.",
    failsUnless: { field: "success", message: "The provider refused or did not answer." },
    examples: [`shoal credential-providers test ${exampleId}`],
  },
  "auth.connections.create": {
    summary: "Connect a profile to a site",
    about: "Creates the profile if it does not exist.",
    help: {
      domain: "Site, up to 253 characters: example.com",
      profile_name: "Profile that stores the login; created if it does not exist",
    },
    flags: { allowed_domains: "--allowed-domain" },
    first: ["id", "domain", "status"],
    examples: [
      "shoal auth connections create --domain example.com --profile-name shopping",
      "shoal auth connections create --domain example.com --profile-name shopping --credential-name shop",
    ],
  },
  "auth.connections.list": {
    summary: "List connections",
    about: "Newest first.",
    columns: [
      id,
      ["DOMAIN", "domain"],
      ["PROFILE", "profile_name"],
      ["STATUS", "status"],
      ["FLOW", "flow_status"],
      ["CHECKED", "last_auth_check_at"],
    ],
    flags: search,
    empty: "No connections. Create one: shoal auth connect example.com --profile NAME",
    watch: everyChange,
    examples: ["shoal auth connections list", "shoal auth connections list --watch"],
  },
  "auth.connections.get": {
    summary: "Show a connection",
    about: "Includes the state of a running login.",
    first: ["id", "domain", "status"],
    watch: { field: "status", until: ["AUTHENTICATED"] },
    examples: [`shoal auth connections get ${exampleId}`, `shoal auth connections get ${exampleId} --watch`],
  },
  "auth.connections.update": {
    summary: "Change a connection",
    about: "Only the given flags change.",
    help: {
      health_checks: "Check periodically whether the profile is still signed in",
      auto_reauth: "Sign in again automatically when a check finds the profile signed out",
      save_credentials: "Store the values that a person enters",
    },
    flags: { allowed_domains: "--allowed-domain" },
    examples: [`shoal auth connections update ${exampleId} --no-auto-reauth`],
  },
  "auth.connections.delete": {
    summary: "Delete a connection",
    about: "Cancels a running login. The profile stays.",
    confirm: "Delete connection {0}?",
    done: "Deleted connection {0}.",
    examples: [`shoal auth connections delete ${exampleId} --yes`],
  },
  "auth.connections.login": {
    summary: "Start a login",
    about:
      "Returns at once. Send the person to the hosted login page, or follow the login and submit the requested values.",
    help: {
      record_session: "Record this login as a replay",
      skill_mode: "Whether to use the remembered steps of earlier logins",
    },
    first: ["id", "hosted_url"],
    next: ["", "Log in at {hosted_url}, or follow the login with: shoal auth connections follow {id}"],
    examples: [`shoal auth connections login ${exampleId}`],
  },
  "auth.connections.submit": {
    summary: "Submit values to a login",
    about: "Returns at once. shoal auth connections follow shows the outcome.",
    help: { fields: "Deprecated: use --field-value", sso_provider: "Deprecated: use --choice-id" },
    flags: { field_values: "--field-value", fields: "--field", selected_choice_id: "--choice-id" },
    examples: [`shoal auth connections submit ${exampleId} --field username=me --field password=SECRET`],
  },
  "auth.connections.cancel": {
    summary: "Cancel a login",
    about: "The profile stays as it was. Without a running login, nothing changes.",
    done: "Connection {0} has no running login now.",
    examples: [`shoal auth connections cancel ${exampleId}`],
  },
  "auth.connections.follow": {
    summary: "Follow a login",
    about: "Prints the state and each change. Ends with the login.",
    examples: [`shoal auth connections follow ${exampleId}`],
  },
  "auth.connections.timeline": {
    summary: "List the logins and checks of a connection",
    about: "Newest first.",
    columns: [
      ["TIME", "timestamp"],
      ["TYPE", "type"],
      ["STATUS", "status"],
      ["STEP", "step"],
      ["ERROR", "error_message"],
    ],
    empty: "No events yet.",
    examples: [`shoal auth connections timeline ${exampleId}`],
  },
  "auth.connections.check": {
    summary: "Check whether a profile is still signed in",
    about: "Returns at once, or waits for the result. The status stays when the site cannot be reached.",
    help: { wait_seconds: "Seconds to wait for the result, 0 to 60" },
    first: ["id", "status", "previous_status", "error_message"],
    examples: [
      `shoal auth connections check ${exampleId} --wait-seconds 60`,
      `shoal auth connections timeline ${exampleId} --type health_check`,
    ],
  },
  "auth.connections.exchange": {
    summary: "Exchange a handoff code for a token",
    about: "For login pages, which have a code and no API key. Each code works once.",
    help: { code: "Handoff code of the login; works once" },
    examples: [`shoal auth connections exchange ${exampleId} --code CODE`],
  },
};
