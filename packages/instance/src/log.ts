/** Writes one JSON line to stderr. */
export function log(level: "debug" | "info" | "warn" | "error", message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  process.stderr.write(`${JSON.stringify({ time: new Date().toISOString(), level, message, ...fields })}\n`);
}
