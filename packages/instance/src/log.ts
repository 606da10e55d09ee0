/** The program is several files, each with a copy of this module: what they share hangs on the process. */
const sinkKey = Symbol.for("shoal.instance.log-sink");
interface Sinks {
  [sinkKey]?: (line: string) => void;
}

/** Writes one JSON line to stderr. */
export function log(level: "debug" | "info" | "warn" | "error", message: string, fields: Readonly<Record<string, unknown>> = {}): void {
  const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
  process.stderr.write(`${line}\n`);
  (process as Sinks)[sinkKey]?.(line);
}

/** Has every line told to `sink` too. */
export function copyLog(sink: (line: string) => void): void {
  (process as Sinks)[sinkKey] = sink;
}
