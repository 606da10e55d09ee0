import type { CommandEntry } from "../../core/types.ts";

const keepKey = ["", "Save the key now; it is not shown again. Programs read it from SHOAL_API_KEY."];
const exampleKey = "dsz0w2zuekgavw5ru2ifnym8";

export const accountEntries: Readonly<Record<string, CommandEntry>> = {
  "profiles.create": {
    summary: "Create an empty profile",
    about: "Sessions started with --profile-save-changes save their state to it.",
    examples: ["shoal profiles create --name shopping"],
  },
  "profiles.list": {
    summary: "List profiles",
    about: "Newest first.",
    help: { name: "Exact name, ignoring case" },
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["CREATED", "created_at"],
      ["LAST USED", "last_used_at"],
    ],
    flags: { query: "--search" },
    empty: "No profiles. Create one: shoal profiles create --name NAME",
    examples: [
      "shoal profiles list --search shop",
      "shoal profiles list --query '[].name' -o jsonl",
      "shoal profiles list --all -o jsonl",
    ],
  },
  "profiles.get": {
    summary: "Show a profile",
    examples: ["shoal profiles get shopping", "shoal profiles get befzf24a8ak2a8mnfcz82efb -o json"],
  },
  "profiles.update": {
    summary: "Rename a profile",
    about: "Running sessions keep using the profile.",
    help: { name: "New name, unique in the project" },
    examples: ["shoal profiles update shopping --name groceries"],
  },
  "profiles.delete": {
    summary: "Delete a profile and its saved states",
    about: "Fails while a session or a pool uses the profile.",
    confirm: "Delete profile {0} and its saved states?",
    done: "Deleted profile {0}.",
    examples: ["shoal profiles delete shopping", "shoal profiles delete shopping --yes"],
  },
  "profiles.rollback": {
    summary: "Restore an earlier state of a profile",
    about:
      "The restored state becomes a new version, so a rollback can be rolled back. Fails while a session saves to the profile.",
    help: { version: "Version to restore, from shoal profiles versions list" },
    confirm: "Restore an earlier state of profile {0}?",
    examples: ["shoal profiles rollback shopping --version 3 --yes"],
  },
  "profiles.storageState.import": {
    summary: "Replace the cookies and local storage of a profile",
    about:
      "Takes the result of Playwright's context.storageState(), up to 1 MiB. Fails while a session saves to the profile.",
    confirm: "Replace the cookies and local storage of profile {0}?",
    examples: ["shoal profiles storage-state import shopping --cookies @cookies.json --origins @origins.json --yes"],
  },
  "apiKeys.create": {
    summary: "Create an API key",
    about:
      "The secret is shown only once. A project key can create keys only for its project. Without a role, operations, sessions and a policy, the key may do everything there.",
    help: {
      name: "Name, up to 255 characters; need not be unique",
      days_to_expire: "Days until the key expires, 1 to 3650, such as 30d; default: never",
      role: "Rights of the key: viewer reads, operator works with sessions, admin does everything",
      operations: "Only these operations, by their names in the reference; can be repeated",
      browser_ids: "Only the session with this id; can be repeated",
      policy: "Statements with an action and a resource, as JSON or @FILE",
      project_id: "Restrict the key to this project; default: the project of the calling key, or every project",
    },
    flags: { days_to_expire: "--expires-in", operations: "--operation", browser_ids: "--browser-id" },
    first: ["id", "name", "key"],
    next: keepKey,
    examples: [
      "shoal api-keys create --name ci --expires-in 90d",
      "shoal api-keys create --name support --role viewer --expires-in 7d",
      "shoal api-keys create --name one-session --browser-id ID",
      "export SHOAL_API_KEY=$(shoal api-keys create --name ci --query key)",
    ],
  },
  "apiKeys.list": {
    summary: "List API keys",
    about: "A project key lists the keys only for its project.",
    help: {
      query: "Part of the name, ID or masked key",
      name: "Exact name, ignoring case",
      status: "List active, deleted or all keys; active includes expired keys",
      include_deleted: "Deprecated: use --status all",
    },
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["KEY", "masked_key"],
      ["PROJECT", "project_name"],
      ["CREATED", "created_at"],
      ["EXPIRES", "expires_at"],
    ],
    flags: { query: "--search" },
    empty: "No API keys. Create one: shoal api-keys create --name NAME",
    examples: ["shoal api-keys list --sort-by expires_at", "shoal api-keys list --status all -o json"],
  },
  "apiKeys.get": {
    summary: "Show an API key",
    about: "Use --include-deleted to find deleted keys.",
    examples: [`shoal api-keys get ${exampleKey}`],
  },
  "apiKeys.update": {
    summary: "Rename an API key",
    about: "The secret does not change.",
    help: { name: "New name, up to 255 characters" },
    examples: [`shoal api-keys update ${exampleKey} --name deploy`],
  },
  "apiKeys.delete": {
    summary: "Delete an API key",
    about: "The key stops working at once. A key cannot delete itself.",
    confirm: "Delete API key {0}? Programs that use it stop working.",
    done: "Deleted API key {0}.",
    examples: [`shoal api-keys delete ${exampleKey} --yes`],
  },
  "apiKeys.rotate": {
    summary: "Replace an API key with a new one",
    about: "The new key has the same name and project. The old key keeps working for --expire-in-days.",
    flags: { days_to_expire: "--expires-in" },
    help: {
      days_to_expire: "Days until the new key expires, 1 to 3650; null: never; default: the lifetime of the old key",
      expire_in_days: "Days that the old key keeps working, 0 to 3650; default: 7",
    },
    first: ["id", "name", "key"],
    next: keepKey,
    confirm: "Replace API key {0} with a new one?",
    examples: [`shoal api-keys rotate ${exampleKey} --expire-in-days 1 --yes`],
  },
  "service.health": {
    summary: "Check that the service is alive",
    about: "A liveness probe.",
    words: ["health"],
    examples: ["shoal health"],
  },
  "service.ready": {
    summary: "Check that the service is ready for work",
    about: "A readiness probe: fails while a part that sessions need is missing.",
    words: ["ready"],
    examples: ["shoal ready", "until shoal ready; do sleep 1; done"],
  },
  "service.openapi": {
    summary: "Print the OpenAPI document of the service",
    words: ["openapi"],
    raw: true,
    examples: ["shoal openapi > openapi.json"],
  },
  "profiles.clone": {
    summary: "Copy a profile",
    about: "The copy starts with the current state. Later changes to one do not affect the other.",
    help: { name: "Name of the copy, unique in the project" },
  },
  "profiles.storageState.get": {
    summary: "Print the cookies and local storage of a profile",
    about: "The format of Playwright's newContext({ storageState }).",
  },
  "profiles.versions.list": {
    summary: "List the saved states of a profile",
    about: "Newest first. Each session that saves to the profile adds one state.",
  },
  "profiles.download": {
    summary: "Download the state of a profile",
    about: "An archive with Chromium's user data, and shoal/state.json with cookies and local storage.",
    help: {
      format: "tar.zst (compressed) or tar; default: as stored",
      version: "Version of an earlier state; default: the current one",
    },
    nothing: "The profile has no saved state yet.",
    examples: ["shoal profiles download shopping -f shopping.tar.zst"],
  },
};
