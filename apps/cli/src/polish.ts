/** What only people need of a command, by operation: arguments instead of flags, columns of its table, examples, a question before it runs. */
export interface Polish {
  /** Words of the command, where they differ from the operation's name. */
  readonly words?: readonly string[];
  /** Fields that are arguments, in order, instead of flags. */
  readonly arguments?: readonly string[];
  /** Flags with a short form or another name, by field. */
  readonly flags?: Readonly<Record<string, string>>;
  /** Columns of the table: a heading, and the field. */
  readonly columns?: readonly (readonly [heading: string, field: string])[];
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

export const polish: Readonly<Record<string, Polish>> = {
  "profiles.create": { examples: ["shoal profiles create --name shopping"] },
  "profiles.list": { columns: profileColumns, examples: ["shoal profiles list --query shop", "shoal profiles list -o json | jq '.[].name'"] },
  "profiles.get": { examples: ["shoal profiles get shopping"] },
  "profiles.update": { examples: ["shoal profiles update shopping --name groceries"] },
  "profiles.delete": { confirm: "Delete profile {0} and the state it holds?", done: "Deleted profile {0}.", examples: ["shoal profiles delete shopping --yes"] },
  "apiKeys.create": { examples: ["shoal api-keys create --name ci --days-to-expire 90"] },
  "apiKeys.list": { columns: keyColumns, examples: ["shoal api-keys list --sort-by expires_at"] },
  "apiKeys.get": { examples: ["shoal api-keys get k2f9…"] },
  "apiKeys.update": { examples: ["shoal api-keys update k2f9… --name deploy"] },
  "apiKeys.delete": { confirm: "Delete API key {0}? Programs that use it stop working at once.", done: "Deleted API key {0}.", examples: ["shoal api-keys delete k2f9… --yes"] },
  "apiKeys.rotate": { confirm: "Replace API key {0}?", examples: ["shoal api-keys rotate k2f9… --expire-in-days 1 --yes"] },
  "browsers.create": {
    flags: { tags: "--tag", timeout_seconds: "-t, --timeout-seconds", headless: "-H, --headless", stealth: "-s, --stealth" },
    examples: ["shoal browsers create --name research --timeout-seconds 600", "shoal browsers create --tag team=search --viewport 1280x800 -o json"],
  },
  "browsers.list": { flags: { tags: "--tag" }, columns: browserColumns, examples: ["shoal browsers list", "shoal browsers list --status all --tag team=search"] },
  "browsers.get": { examples: ["shoal browsers get research", "shoal browsers get research -o json | jq -r .cdp_ws_url"] },
  "browsers.update": { flags: { tags: "--tag" }, examples: ["shoal browsers update research --name archive"] },
  "browsers.delete": { done: "Ended browser {0}.", examples: ["shoal browsers delete research"] },
  "browsers.fs.listFiles": { arguments: ["path"], columns: fileColumns, examples: ["shoal browsers fs list-files research /home/shoal/Downloads"] },
  "browsers.fs.fileInfo": { arguments: ["path"], examples: ["shoal browsers fs file-info research /home/shoal/Downloads/report.pdf"] },
  "browsers.fs.createDirectory": { arguments: ["path"], done: "Created {1}.", examples: ["shoal browsers fs create-directory research /home/shoal/work"] },
  "browsers.fs.deleteFile": { arguments: ["path"], done: "Deleted {1}.", examples: ["shoal browsers fs delete-file research /home/shoal/work/a.txt"] },
  "browsers.fs.deleteDirectory": {
    arguments: ["path"],
    confirm: "Delete {1} in browser {0} with everything in it?",
    done: "Deleted {1}.",
    examples: ["shoal browsers fs delete-directory research /home/shoal/work --yes"],
  },
  "browsers.fs.setFilePermissions": { words: ["browsers", "fs", "set-permissions"], arguments: ["path", "mode"], done: "Changed {1}.", examples: ["shoal browsers fs set-permissions research /home/shoal/run.sh 755"] },
  "browsers.fs.move": { arguments: ["src_path", "dest_path"], done: "Moved {1} to {2}.", examples: ["shoal browsers fs move research /home/shoal/a.txt /home/shoal/b.txt"] },
  "browsers.fs.watch.start": { arguments: ["path"], flags: { recursive: "-r, --recursive" }, examples: ["shoal browsers fs watch start research /home/shoal/Downloads --recursive"] },
  "browsers.fs.watch.events": { examples: ["shoal browsers fs watch events research w3k9…"] },
  "browsers.fs.watch.stop": { done: "Stopped watch {1}.", examples: ["shoal browsers fs watch stop research w3k9…"] },
  "service.health": { words: ["health"] },
  "service.ready": { words: ["ready"] },
  "service.openapi": { words: ["openapi"], examples: ["shoal openapi > openapi.json"] },
};
