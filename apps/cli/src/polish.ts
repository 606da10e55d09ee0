import { printable } from "./format.ts";
import type { Column } from "./output.ts";

/** What only people need of a command, by operation: arguments instead of flags, columns of its table, examples, a question before it runs. */
export interface Polish {
  /** Words of the command, where they differ from the operation's name. */
  readonly words?: readonly string[];
  /** What the argument for the path parameter `id` takes, where that is more than an id. */
  readonly id?: string;
  /** Fields that are arguments, in order, instead of flags. */
  readonly arguments?: readonly string[];
  /** Flags with a short form or another name, by field. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Columns of the table: a heading, and the field. */
  readonly columns?: readonly Column[];
  /** Said on stderr instead of an empty table. */
  readonly empty?: string;
  /** Fields that stand at the top when one object is shown. */
  readonly first?: readonly string[];
  /** Lines for stderr, below an object that a person reads: what to do with it. */
  readonly next?: (result: Readonly<Record<string, unknown>>) => readonly string[];
  /** The result is a document: printed as JSON, whatever the format. */
  readonly raw?: true;
  /** Asked before the command runs; `{0}` is its first argument. */
  readonly confirm?: string;
  /** Printed on stderr when it worked and there is nothing to show; `{0}` is its first argument. */
  readonly done?: string;
  readonly examples?: readonly string[];
}

const profileColumns = [
  ["ID", "id"],
  ["NAME", "name"],
  ["CREATED", "created_at"],
  ["LAST USED", "last_used_at"],
] as const;
const keyColumns = [
  ["ID", "id"],
  ["NAME", "name"],
  ["KEY", "masked_key"],
  ["PROJECT", "project_name"],
  ["CREATED", "created_at"],
  ["EXPIRES", "expires_at"],
] as const;
const browserColumns = [
  ["ID", "session_id"],
  ["NAME", "name"],
  ["CREATED", "created_at"],
  ["EXPIRES", "expires_at"],
  ["ENDED", "ended_reason"],
] as const;
const fileColumns = [
  ["MODE", "mode"],
  ["SIZE", "size_bytes"],
  ["CHANGED", "mod_time"],
  ["NAME", "name"],
] as const;

const text = (value: unknown) => (typeof value === "string" || typeof value === "number" ? printable(String(value)) : "");
const keepKey = () => ["", "Keep the key now: it cannot be shown again. Programs find it in SHOAL_API_KEY."];
const sessionId = "The session's id or name.";

export const polish: Readonly<Record<string, Polish>> = {
  "profiles.create": { examples: ["shoal profiles create --name shopping"] },
  "profiles.list": { columns: profileColumns, empty: "No profiles. Make one: shoal profiles create --name NAME", examples: ["shoal profiles list --query shop", "shoal profiles list -o json | jq -r '.[].name'", "shoal profiles list --all -o jsonl"] },
  "profiles.get": { examples: ["shoal profiles get shopping", "shoal profiles get befzf24a8ak2a8mnfcz82efb -o json"] },
  "profiles.update": { examples: ["shoal profiles update shopping --name groceries"] },
  "profiles.delete": { confirm: "Delete profile {0} and the state it holds?", done: "Deleted profile {0}.", examples: ["shoal profiles delete shopping", "shoal profiles delete shopping --yes"] },
  "apiKeys.create": {
    first: ["id", "name", "key"],
    next: keepKey,
    examples: ["shoal api-keys create --name ci --days-to-expire 90", "export SHOAL_API_KEY=$(shoal api-keys create --name ci -o json | jq -r .key)"],
  },
  "apiKeys.list": { columns: keyColumns, empty: "No API keys.", examples: ["shoal api-keys list --sort-by expires_at", "shoal api-keys list --status all -o json"] },
  "apiKeys.get": { examples: ["shoal api-keys get dsz0w2zuekgavw5ru2ifnym8"] },
  "apiKeys.update": { examples: ["shoal api-keys update dsz0w2zuekgavw5ru2ifnym8 --name deploy"] },
  "apiKeys.delete": { confirm: "Delete API key {0}? Programs that use it stop working at once.", done: "Deleted API key {0}.", examples: ["shoal api-keys delete dsz0w2zuekgavw5ru2ifnym8 --yes"] },
  "apiKeys.rotate": { first: ["id", "name", "key"], next: keepKey, confirm: "Replace API key {0} by a new one?", examples: ["shoal api-keys rotate dsz0w2zuekgavw5ru2ifnym8 --expire-in-days 1 --yes"] },
  "browsers.create": {
    first: ["session_id", "name"],
    next: (browser) => [
      "",
      "Drive it with Playwright, chromium.connectOverCDP(cdp_ws_url), or Puppeteer, puppeteer.connect({ browserWSEndpoint: cdp_ws_url }).",
      `It ends after ${text(browser.timeout_seconds)} s in which nobody uses it, or with: shoal browsers delete ${text(browser.name) || text(browser.session_id)}`,
    ],
    flags: { tags: "--tag", timeout_seconds: "-t, --timeout-seconds", headless: "-H, --headless", stealth: "-s, --stealth" },
    examples: ["shoal browsers create --name research --timeout-seconds 600", "shoal browsers create --tag team=search --viewport 1280x800 -o json | jq -r .cdp_ws_url"],
  },
  "browsers.list": {
    flags: { tags: "--tag" },
    columns: browserColumns,
    empty: "No browsers. Start one: shoal browsers create",
    examples: ["shoal browsers list", "shoal browsers list --status all --tag team=search"],
  },
  "browsers.get": { first: ["session_id", "name"], examples: ["shoal browsers get research", "shoal browsers get research -o json | jq -r .cdp_ws_url"] },
  "browsers.update": { first: ["session_id", "name"], flags: { tags: "--tag" }, examples: ["shoal browsers update research --name archive", "shoal browsers update research --tag team=search --tag stage=2"] },
  "browsers.delete": { done: "Ended browser {0}.", examples: ["shoal browsers delete research"] },
  "browsers.fs.listFiles": { id: sessionId, arguments: ["path"], columns: fileColumns, empty: "The directory is empty.", examples: ["shoal browsers fs list-files research /home/shoal/Downloads"] },
  "browsers.fs.fileInfo": { id: sessionId, arguments: ["path"], examples: ["shoal browsers fs file-info research /home/shoal/Downloads/report.pdf"] },
  "browsers.fs.createDirectory": { id: sessionId, arguments: ["path"], done: "Created {1}.", examples: ["shoal browsers fs create-directory research /home/shoal/work"] },
  "browsers.fs.deleteFile": { id: sessionId, arguments: ["path"], done: "Deleted {1}.", examples: ["shoal browsers fs delete-file research /home/shoal/work/a.txt"] },
  "browsers.fs.deleteDirectory": {
    id: sessionId,
    arguments: ["path"],
    confirm: "Delete {1} in browser {0} with everything in it?",
    done: "Deleted {1}.",
    examples: ["shoal browsers fs delete-directory research /home/shoal/work", "shoal browsers fs delete-directory research /home/shoal/work --missing-ok --yes"],
  },
  "browsers.fs.setFilePermissions": {
    id: sessionId,
    words: ["browsers", "fs", "set-permissions"],
    arguments: ["path", "mode"],
    done: "Changed {1}.",
    examples: ["shoal browsers fs set-permissions research /home/shoal/run.sh 755"],
  },
  "browsers.fs.move": { id: sessionId, arguments: ["src_path", "dest_path"], done: "Moved {1} to {2}.", examples: ["shoal browsers fs move research /home/shoal/a.txt /home/shoal/b.txt"] },
  "browsers.fs.watch.start": { id: sessionId, arguments: ["path"], flags: { recursive: "-r, --recursive" }, examples: ["shoal browsers fs watch start research /home/shoal/Downloads --recursive"] },
  "browsers.fs.watch.events": { id: sessionId, examples: ["shoal browsers fs watch events research ouhlg8brk2fbv6ydoi7vmbof", "shoal browsers fs watch events research ouhlg8brk2fbv6ydoi7vmbof -o jsonl | jq -r .path"] },
  "browsers.fs.watch.stop": { id: sessionId, done: "Stopped watch {1}.", examples: ["shoal browsers fs watch stop research ouhlg8brk2fbv6ydoi7vmbof"] },
  "service.health": { words: ["health"], examples: ["shoal health"] },
  "service.ready": { words: ["ready"], examples: ["shoal ready", "until shoal ready; do sleep 1; done"] },
  "service.openapi": { words: ["openapi"], raw: true, examples: ["shoal openapi > openapi.json"] },
};
