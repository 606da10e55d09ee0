/** Each bundled part has a copy of this module, so shared state is kept on `process`. */
const sinkKey = Symbol.for("shoal.instance.log-sink");
interface Sinks {
  [sinkKey]?: (line: string) => void;
}

export function log(
  level: "debug" | "info" | "warn" | "error",
  message: string,
  fields: Readonly<Record<string, unknown>> = {},
): void {
  const line = JSON.stringify({ time: new Date().toISOString(), level, message, ...fields });
  process.stderr.write(`${line}\n`);
  (process as Sinks)[sinkKey]?.(line);
}

/** Also passes every line to `sink`. */
export function copyLog(sink: (line: string) => void): void {
  (process as Sinks)[sinkKey] = sink;
}
