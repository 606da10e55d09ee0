import type { CommandEntry } from "../../core/types.ts";

const search = { query: "--search" } as const;
const project = "ID or name of the project";
const exampleDestination = "n6ymbq3ub5nxvlj4e1vk9hgy";
const exportWords = (verb: string) => ["audit-logs", "export", verb];
const created = ["CREATED", "created_at"] as const;
const name = ["NAME", "name"] as const;
const id = ["ID", "id"] as const;

export const orgEntries: Readonly<Record<string, CommandEntry>> = {
  "projects.create": {
    summary: "Create a project",
    about: "Needs an organisation-wide key.",
    help: { name: "Name, unique in the organisation" },
    arguments: ["name"],
    flags: { "network.allow": "--allow", "network.deny": "--deny" },
    examples: ["shoal projects create research"],
  },
  "projects.list": {
    summary: "List projects",
    about: "Newest first. A project key lists its own project only.",
    columns: [id, name, ["STATUS", "status"], created],
    flags: search,
    empty: "No projects.",
    examples: ["shoal projects list", "shoal projects list --search rese"],
  },
  "projects.get": { summary: "Show a project", id: project, examples: ["shoal projects get research"] },
  "projects.update": {
    summary: "Rename, archive or reopen a project, or change its network rules",
    about: "A project key can only rename its own project. The last active project cannot be archived.",
    flags: { "network.allow": "--allow", "network.deny": "--deny" },
    help: {
      name: "New name, unique in the organisation",
      status: "archived closes the project for new work, active reopens it",
    },
    id: project,
    confirm: "Archive project {0}? Its keys stop working until it is active again.",
    confirmOnly: { field: "status", value: "archived" },
    examples: [
      "shoal projects update research --name archive",
      "shoal projects update research --deny '*.example.com'",
      "shoal projects update research --status archived --yes",
    ],
  },
  "projects.delete": {
    summary: "Delete a project and its keys",
    about: "Fails while anything in the project is in use, and for the last active project.",
    id: project,
    confirm: "Delete project {0}?",
    done: "Deleted project {0}.",
    examples: ["shoal projects delete research --yes"],
  },
  "projects.limits.get": {
    summary: "Show the limits of a project",
    about: "The limits of the organisation apply as well.",
    id: project,
    examples: ["shoal projects limits get research"],
  },
  "projects.limits.update": {
    summary: "Change the limits of a project",
    about: "0 removes a limit.",
    alias: ["set"],
    id: project,
    examples: ["shoal projects limits update research --max-concurrent-sessions 5"],
  },
  "organization.limits.get": {
    summary: "Show the limits of the organisation",
    about: "They apply to all projects together.",
    words: ["org", "limits", "get"],
    examples: ["shoal org limits get"],
  },
  "organization.limits.update": {
    summary: "Change the limits of the organisation",
    about: "0 removes a limit. Needs an organisation-wide key.",
    alias: ["set"],
    words: ["org", "limits", "update"],
    examples: ["shoal org limits update --default-project-max-concurrent-sessions 10"],
  },
  "organization.entitlements.get": {
    summary: "Show the entitlements of the organisation",
    words: ["org", "entitlements"],
    examples: ["shoal org entitlements", "shoal org entitlements --query limits"],
  },
  "auth.context.get": {
    summary: "Show the caller and its projects",
    words: ["auth", "context"],
    examples: ["shoal auth context"],
  },
  "auditLogs.list": {
    summary: "Search the audit log",
    about: "Newest first. The period can be up to 30 days.",
    help: { method: "Only this HTTP method", limit: "Entries per page, 1 to 100" },
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
    empty: "No entries in this period.",
    examples: [
      "shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z",
      "shoal audit-logs search --start 2026-01-01T00:00:00Z --end 2026-01-02T00:00:00Z --method DELETE --all -o jsonl",
    ],
  },
  "auditLogs.exportChunk": {
    summary: "Download the audit log",
    about: "Downloads the whole period in chunks and verifies the checksum of each.",
    help: {
      method: "Only this HTTP method",
      limit: "Entries per chunk, 1 to 50000",
      format: "jsonl.gz (compressed) or jsonl",
    },
    words: ["audit-logs", "download"],
    chunks: true,
    flags: { search_user_id: "--user-id" },
    examples: ["shoal audit-logs download --start 2026-01-01T00:00:00Z --end 2026-02-01T00:00:00Z -f january.jsonl.gz"],
  },
  "auditLogs.verify": {
    summary: "Verify that the audit log is unchanged",
    about: "Checks the hash of every entry. Fails if an entry was changed or removed. Needs an organisation-wide key.",
    words: ["audit-logs", "verify"],
    failsUnless: { field: "valid", message: "The audit log failed verification." },
    first: ["valid", "entries", "head"],
    examples: ["shoal audit-logs verify", "shoal audit-logs verify --query head"],
  },
  "auditLogs.exportDestinations.create": {
    summary: "Create an audit log destination",
    about: "It starts paused. Test it, then start it with shoal audit-logs export resume.",
    help: { type: "Kind of store", format: "Format of the objects", region: "Region of the bucket: eu-central-1" },
    words: exportWords("create"),
    examples: [
      "shoal audit-logs export create --type s3 --format jsonl.gz --bucket logs --prefix shoal/ --region eu-central-1 --role-arn arn:aws:iam::123456789012:role/shoal",
    ],
  },
  "auditLogs.exportDestinations.list": {
    summary: "List audit log destinations",
    about: "Newest first.",
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
  "auditLogs.exportDestinations.get": {
    summary: "Show an audit log destination",
    about: "Includes the progress of the export and its last error.",
    words: exportWords("get"),
    examples: [`shoal audit-logs export get ${exampleDestination}`],
  },
  "auditLogs.exportDestinations.update": {
    summary: "Change, pause or resume an audit log destination",
    about: "Only the given flags change.",
    help: { region: "Region of the bucket: eu-central-1", status: "active starts the export, paused stops it" },
    words: exportWords("update"),
    examples: [`shoal audit-logs export update ${exampleDestination} --status active`],
  },
  "auditLogs.exportDestinations.delete": {
    summary: "Delete an audit log destination",
    about: "Exported objects stay in the bucket.",
    words: exportWords("delete"),
    confirm: "Delete export destination {0}?",
    done: "Deleted export destination {0}.",
    examples: [`shoal audit-logs export delete ${exampleDestination} --yes`],
  },
  "auditLogs.exportDestinations.test": {
    summary: "Test an audit log destination",
    about: "Assumes the role and writes one object, as an export does.",
    words: exportWords("test"),
    examples: [`shoal audit-logs export test ${exampleDestination}`],
  },
  "telemetry.destinations.create": {
    summary: "Create a telemetry destination",
    about: "Sessions name it in the export field of --telemetry.",
    help: {
      name: "Name, unique in the project: letters, digits, dots, underscores and hyphens",
      headers: "Header to send, stored encrypted",
    },
    flags: { headers: "--header" },
    examples: [
      "shoal telemetry destinations create --name collector --endpoint https://otel.example.com --header authorization=TOKEN",
    ],
  },
  "telemetry.destinations.list": {
    summary: "List telemetry destinations",
    about: "Newest first.",
    columns: [id, name, ["ENDPOINT", "endpoint"], created],
    flags: search,
    empty: "No destinations.",
    examples: ["shoal telemetry destinations list"],
  },
  "telemetry.destinations.get": {
    summary: "Show a telemetry destination",
    about: "The values of its headers are hidden.",
    examples: ["shoal telemetry destinations get collector"],
  },
  "telemetry.destinations.update": {
    summary: "Change a telemetry destination",
    about: "Only the given flags change.",
    help: { name: "New name, unique in the project", headers: "Header to set" },
    flags: { headers: "--header" },
    examples: ["shoal telemetry destinations update collector --endpoint https://otel2.example.com"],
  },
  "telemetry.destinations.delete": {
    summary: "Delete a telemetry destination",
    about: "Fails while a running session, a pool or a connection uses it.",
    confirm: "Delete telemetry destination {0}?",
    done: "Deleted telemetry destination {0}.",
    examples: ["shoal telemetry destinations delete collector --yes"],
  },
  "projects.legacy.create": { summary: "Create a project" },
  "projects.legacy.list": { summary: "List projects" },
  "projects.legacy.delete": { summary: "Delete a project" },
  "projects.legacy.get": { summary: "Show a project" },
  "projects.legacy.update": { summary: "Rename, archive or reopen a project" },
  "projects.legacy.limits.get": { summary: "Show the limits of a project" },
  "projects.legacy.limits.update": { summary: "Change the limits of a project" },
};
