import type { Polish } from "../polish.ts";

const keepKey = ["", "Keep the key now: it cannot be shown again. Programs find it in SHOAL_API_KEY."];
const exampleKey = "dsz0w2zuekgavw5ru2ifnym8";

/** Profiles, keys and the service itself. */
export const accountPolish: Readonly<Record<string, Polish>> = {
  "profiles.create": { examples: ["shoal profiles create --name shopping"] },
  "profiles.list": {
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["CREATED", "created_at"],
      ["LAST USED", "last_used_at"],
    ],
    flags: { query: "--search" },
    empty: "No profiles. Make one: shoal profiles create --name NAME",
    examples: ["shoal profiles list --search shop", "shoal profiles list --query '[].name' -o jsonl", "shoal profiles list --all -o jsonl"],
  },
  "profiles.get": { examples: ["shoal profiles get shopping", "shoal profiles get befzf24a8ak2a8mnfcz82efb -o json"] },
  "profiles.update": { examples: ["shoal profiles update shopping --name groceries"] },
  "profiles.delete": {
    confirm: "Delete profile {0} and the state it holds?",
    done: "Deleted profile {0}.",
    examples: ["shoal profiles delete shopping", "shoal profiles delete shopping --yes"],
  },
  "profiles.rollback": { confirm: "Return profile {0} to an earlier state?", examples: ["shoal profiles rollback shopping --version 3 --yes"] },
  "profiles.storageState.import": {
    confirm: "Replace the state that profile {0} holds?",
    examples: ["shoal profiles storage-state import shopping --cookies @cookies.json --origins @origins.json --yes"],
  },
  "apiKeys.create": {
    first: ["id", "name", "key"],
    next: keepKey,
    examples: ["shoal api-keys create --name ci --days-to-expire 90", "export SHOAL_API_KEY=$(shoal api-keys create --name ci --query key)"],
  },
  "apiKeys.list": {
    columns: [
      ["ID", "id"],
      ["NAME", "name"],
      ["KEY", "masked_key"],
      ["PROJECT", "project_name"],
      ["CREATED", "created_at"],
      ["EXPIRES", "expires_at"],
    ],
    flags: { query: "--search" },
    empty: "No API keys.",
    examples: ["shoal api-keys list --sort-by expires_at", "shoal api-keys list --status all -o json"],
  },
  "apiKeys.get": { examples: [`shoal api-keys get ${exampleKey}`] },
  "apiKeys.update": { examples: [`shoal api-keys update ${exampleKey} --name deploy`] },
  "apiKeys.delete": {
    confirm: "Delete API key {0}? Programs that use it stop working at once.",
    done: "Deleted API key {0}.",
    examples: [`shoal api-keys delete ${exampleKey} --yes`],
  },
  "apiKeys.rotate": {
    first: ["id", "name", "key"],
    next: keepKey,
    confirm: "Replace API key {0} by a new one?",
    examples: [`shoal api-keys rotate ${exampleKey} --expire-in-days 1 --yes`],
  },
  "service.health": { words: ["health"], examples: ["shoal health"] },
  "service.ready": { words: ["ready"], examples: ["shoal ready", "until shoal ready; do sleep 1; done"] },
  "service.openapi": { words: ["openapi"], raw: true, examples: ["shoal openapi > openapi.json"] },
};
