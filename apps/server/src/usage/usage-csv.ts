import type { UsageRow } from "@shoal/schemas";
import { stringify } from "csv-stringify/sync";

type Column = keyof UsageRow;

const figures: readonly Column[] = [
  "session_minutes",
  "sessions_started",
  "peak_concurrent_sessions",
  "bytes_sent",
  "bytes_received",
];

/** Both groups have fixed columns, so that files of different periods fit together. */
const columns: Readonly<Record<"project" | "api_key", readonly Column[]>> = {
  project: ["date", "project_id", "project_name", ...figures, "storage_bytes"],
  api_key: ["date", "project_id", "project_name", "api_key_id", "api_key_name", ...figures],
};

// Excel and RFC 4180 expect CRLF.
const options = { escape_formulas: true, record_delimiter: "windows" } as const;

export function csvHead(group: "project" | "api_key"): string {
  return stringify([[...columns[group]]], options);
}

export function csvLine(row: UsageRow, group: "project" | "api_key"): string {
  return stringify([columns[group].map((column) => row[column] ?? "")], options);
}
