import type { OutputFormat, Terminal } from "../core/types.ts";
import { cell, printable, printableLines } from "./format.ts";
import { printJsonLine, styled } from "./output.ts";
import { writeProcessOutput } from "./outcome.ts";
import { telemetryLine } from "./telemetry-line.ts";

const fileColours = { CREATE: "green", WRITE: "yellow", DELETE: "red", RENAME: "cyan" } as const;

type Fields = Readonly<Record<string, unknown>>;

export function printEvent(terminal: Terminal, event: object, format: OutputFormat): void {
  if (format !== "table") {
    printJsonLine(terminal, event);
    return;
  }
  const fields = event as Fields;
  if (writeProcessOutput(terminal, fields)) return;
  const written =
    fileLine(terminal, fields) ??
    logLine(terminal, fields) ??
    stateLine(terminal, fields) ??
    versionLine(terminal, fields) ??
    telemetryOf(terminal, fields);
  if (written === undefined) printJsonLine(terminal, event);
  else terminal.stdout.write(written);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}

/** `CREATE  /home/shoal/a.txt` */
function fileLine(terminal: Terminal, { type, path, dest_path, is_dir }: Fields): string | undefined {
  if (typeof type !== "string" || typeof path !== "string") return undefined;
  const name = printable(type).padEnd(6);
  const colour = type in fileColours ? fileColours[type as keyof typeof fileColours] : undefined;
  const target = typeof dest_path === "string" ? ` -> ${printable(dest_path)}` : "";
  return `${colour ? styled(terminal, colour, name) : name}  ${printable(path)}${is_dir === true ? "/" : ""}${target}\n`;
}

/** `2026-01-01T00:00:00.000Z  stdout  started`. Lines of files have no source. */
function logLine(terminal: Terminal, { timestamp, message, source }: Fields): string | undefined {
  if (typeof message !== "string") return undefined;
  const head = [textOf(timestamp), textOf(source)?.padEnd(6)].flatMap((text) =>
    text === undefined ? [] : `${styled(terminal, "dim", printable(text))}  `,
  );
  return `${head.join("")}${printableLines(message.replace(/\n$/, ""))}\n`;
}

/** Of a deployment, an invocation or a connection. */
function stateLine(
  terminal: Terminal,
  { event, timestamp, deployment, invocation, flow_status, error, ...more }: Fields,
): string | undefined {
  if (typeof event !== "string") return undefined;
  const subject = (deployment ?? invocation ?? {}) as Fields;
  const said = [
    textOf(subject.status),
    textOf(subject.status_reason),
    textOf(flow_status),
    textOf((error as Fields | undefined)?.message),
    textOf(more.flow_step),
    textOf(more.hosted_url),
  ].filter((text) => text !== undefined);
  if (said.length === 0) return undefined;
  const when = textOf(timestamp);
  return `${when === undefined ? "" : `${styled(terminal, "dim", printable(when))}  `}${printable(event)}  ${said.map(printable).join("  ")}\n`;
}

/** A version of an app and its actions. */
function versionLine(terminal: Terminal, { event, timestamp, app_name, version, actions }: Fields): string | undefined {
  if (event !== "app_version_summary" || !Array.isArray(actions)) return undefined;
  const names = actions.map((action) => cell((action as Fields).name));
  const when = textOf(timestamp);
  return `${when === undefined ? "" : `${styled(terminal, "dim", printable(when))}  `}${cell(app_name)} ${cell(version)}: ${names.join(", ")}\n`;
}

function telemetryOf(terminal: Terminal, { event }: Fields): string | undefined {
  return typeof event === "object" && event !== null ? telemetryLine(terminal, event as Fields) : undefined;
}
