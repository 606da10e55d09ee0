import type { Polish } from "../polish.ts";

const search = { query: "--search" } as const;
const project = "The project's id or name.";
const exampleDestination = "n6ymbq3ub5nxvlj4e1vk9hgy";
const exportWords = (verb: string) => ["audit-logs", "export", verb];
const created = ["CREATED", "created_at"] as const;
const name = ["NAME", "name"] as const;
const id = ["ID", "id"] as const;

/** Projects, limits, the audit log, and where telemetry goes. */
export const orgPolish: Readonly<Record<string, Polish>> = {
  "projects.create": { arguments: ["name"], examples: ["shoal projects create research"] },
  "projects.list": {
    columns: [id, name, ["STATUS", "status"], created],
    flags: search,
    empty: "No projects.",
    examples: ["shoal projects list", "shoal projects list --search rese"],
  },
  "projects.get": { id: project, examples: ["shoal projects get research"] },
  "projects.update": {
    id: project,
    confirm: "Archive project {0}? Its keys open nothing until it is active again.",
    confirmOnly: { field: "status", value: "archived" },
    examples: ["shoal projects update research --name archive", "shoal projects update research --status archived --yes"],
  },
  "projects.delete": {
    id: project,
    confirm: "Delete project {0}?",
    done: "Deleted project {0}.",
    examples: ["shoal projects delete research --yes"],
  },
  "projects.limits.get": { id: project, examples: ["shoal projects limits get research"] },
  "projects.limits.update": { alias: ["set"], id: project, examples: ["shoal projects limits update research --max-concurrent-sessions 5"] },
  "organization.limits.get": { words: ["org", "limits", "get"], examples: ["shoal org limits get"] },
  "organization.limits.update": {
    alias: ["set"],
    words: ["org", "limits", "update"],
    examples: ["shoal org limits update --default-project-max-concurrent-sessions 10"],
  },
  "organization.entitlements.get": { words: ["org", "entitlements"], examples: ["shoal org entitlements", "shoal org entitlements --query limits"] },
  "auth.context.get": { words: ["auth", "context"], examples: ["shoal auth context"] },
  "auditLogs.list": {
    words: ["audit-logs", "search"],
    alias: ["list"],
    columns: [
      ["TIME", "timestamp"],
      ["STATUS", "status"],
      ["METHOD", "method"],
      ["PATH", "path"],
      ["WHO", "email"],
      ["FROM", "client_ip"],
    ],
    flags: { search_user_id: "--user-id" },
    empty: "Nothing was recorded then.",
    examples: [
      "shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z",
      "shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z --method DELETE --all -o jsonl",
    ],
  },
  "auditLogs.exportChunk": {
    words: ["audit-logs", "download"],
    flags: { search_user_id: "--user-id" },
    examples: ["shoal audit-logs download --start 2026-01-01T00:00:00Z --end 2026-02-01T00:00:00Z -f january.jsonl.gz"],
  },
  "auditLogs.verify": {
    words: ["audit-logs", "verify"],
    first: ["valid", "entries", "head"],
    examples: ["shoal audit-logs verify", "shoal audit-logs verify --query head"],
  },
  "auditLogs.exportDestinations.create": {
    words: exportWords("create"),
    examples: [
      "shoal audit-logs export create --type s3 --format jsonl.gz --bucket logs --prefix shoal/ --region eu-central-1 --role-arn arn:aws:iam::123456789012:role/shoal",
    ],
  },
  "auditLogs.exportDestinations.list": {
    words: exportWords("list"),
    columns: [
      id,
      ["STATUS", "status"],
      ["BUCKET", "bucket"],
      ["PREFIX", "prefix"],
      ["LAST SUCCESS", "last_success_at"],
      ["FAILURES", "consecutive_failures"],
    ],
    empty: "No destinations.",
    examples: ["shoal audit-logs export list"],
  },
  "auditLogs.exportDestinations.get": { words: exportWords("get"), examples: [`shoal audit-logs export get ${exampleDestination}`] },
  "auditLogs.exportDestinations.update": {
    words: exportWords("update"),
    examples: [`shoal audit-logs export update ${exampleDestination} --status active`],
  },
  "auditLogs.exportDestinations.delete": {
    words: exportWords("delete"),
    confirm: "Delete export destination {0}?",
    done: "Deleted export destination {0}.",
    examples: [`shoal audit-logs export delete ${exampleDestination} --yes`],
  },
  "auditLogs.exportDestinations.test": { words: exportWords("test"), examples: [`shoal audit-logs export test ${exampleDestination}`] },
  "telemetry.destinations.create": {
    flags: { headers: "--header" },
    examples: ["shoal telemetry destinations create --name collector --endpoint https://otel.example.com --header authorization=TOKEN"],
  },
  "telemetry.destinations.list": {
    columns: [id, name, ["ENDPOINT", "endpoint"], created],
    flags: search,
    empty: "No destinations.",
    examples: ["shoal telemetry destinations list"],
  },
  "telemetry.destinations.get": { examples: ["shoal telemetry destinations get collector"] },
  "telemetry.destinations.update": {
    flags: { headers: "--header" },
    examples: ["shoal telemetry destinations update collector --endpoint https://otel2.example.com"],
  },
  "telemetry.destinations.delete": {
    confirm: "Delete telemetry destination {0}?",
    done: "Deleted telemetry destination {0}.",
    examples: ["shoal telemetry destinations delete collector --yes"],
  },
};
