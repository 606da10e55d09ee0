import { Writable } from "node:stream";
import { pino, type DestinationStream, type Logger } from "pino";
import type { Config } from "../config/settings.ts";
import { LogLines } from "./log-lines.ts";

export type Log = Logger;

const secrets =
  /(?:sk|c[dlps])_shoal_[\w-]+|(?<=\/auth\/sign-in\/[^\s"]*[?&]code=)[\w.-]+|(?<=\/browser\/(?:live|replay)\/)[\w.-]+|(?<=\/(?:session|steel\/connect)\/)eyJ[\w.-]+|\b(?:jwt=|Bearer )[\w.~+/=-]+|(?<=\/\/[^\s/:@"]*:)[^\s/@"]+(?=@)/gi;

/** Redacts keys, session tokens and passwords in URLs. The last safeguard for every log line. */
export function redact(text: string): string {
  return text.replace(secrets, (secret) =>
    /^(?:sk|c[dlps])_shoal_/i.test(secret)
      ? `${secret.slice(0, 9)}***`
      : /^jwt=/i.test(secret)
        ? "jwt=***"
        : /^bearer /i.test(secret)
          ? "Bearer ***"
          : "***",
  );
}

/**
 * Shows control characters and invisible marks of a JSON line as escapes. Paths, errors and lines of sessions contain them,
 * and a terminal would obey them.
 */
function forTerminal(line: string): string {
  return line
    .replaceAll(/\\\\|\\(?:[bfr]|u00(?:[01][\da-f]|7f))/gi, (escape) => (escape === "\\\\" ? escape : `\\${escape}`))
    .replaceAll(
      /[\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g,
      (mark) => `\\\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
}

const lostAsJson = (msg: string, lost: number): string =>
  JSON.stringify({ level: "warn", time: new Date().toISOString(), lost, msg });

function streamOf(lines: LogLines): Writable {
  return new Writable({
    write(chunk: Buffer, _encoding, done) {
      lines.write(chunk.toString());
      done();
    },
  });
}

/** Writes JSON lines, or formatted text on a terminal. @param destination - default: stderr. */
export async function createLog(
  config: Pick<Config, "log_level" | "log_format">,
  destination?: DestinationStream,
): Promise<Log> {
  const options = {
    level: config.log_level,
    base: null,
    timestamp: () => `,"time":"${new Date().toISOString()}"`,
    formatters: { level: (label: string) => ({ level: label }) },
    redact: {
      paths: [
        "authorization",
        "*.authorization",
        "headers",
        "*.headers",
        "jwt",
        "*.jwt",
        "api_key",
        "*.api_key",
        "key",
        "*.key",
        "password",
        "*.password",
      ],
      censor: "***",
    },
  };
  const pretty =
    config.log_format === "pretty" ||
    (config.log_format === "auto" && destination === undefined && process.stderr.isTTY);
  if (!pretty) return pino({ ...options, hooks: { streamWrite: redact } }, destination ?? new LogLines(2, lostAsJson));
  const { build } = await import("pino-pretty");
  // In this process, not in a worker thread: the last lines before a crash must not be lost.
  return pino(
    { ...options, hooks: { streamWrite: (line: string) => forTerminal(redact(line)) } },
    build({
      colorize: destination === undefined && process.stderr.isTTY,
      ignore: "pid,hostname",
      singleLine: true,
      translateTime: "SYS:HH:MM:ss.l",
      sync: true,
      destination: destination ?? streamOf(new LogLines(2, (text, lost) => `WARN: ${String(lost)} ${text}`)),
    }),
  );
}

const parts = new WeakMap<Log, Log[]>();

/** The level follows the parent. */
export function partLog(log: Log, part: string): Log {
  const child = log.child({ part });
  parts.set(log, [...(parts.get(log) ?? []), child]);
  return child;
}

export function setLevel(log: Log, level: Config["log_level"]): void {
  for (const each of [log, ...(parts.get(log) ?? [])]) each.level = level;
}
