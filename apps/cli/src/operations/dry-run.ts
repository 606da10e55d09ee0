import { withMapParts } from "./upload.ts";
import type { CommandRequest, CommandSpec, GlobalFlags, OutputFormat, Run } from "../core/types.ts";
import { plainRequest } from "../connection/call.ts";
import { forShell } from "../core/for-shell.ts";
import { reach } from "../connection/reach.ts";
import { printJson, printJsonLine } from "../output/output.ts";
import { printValue } from "../output/print-result.ts";
import type { PlainRequest } from "../connection/send.ts";
import { redactedHeader } from "../connection/wire-log.ts";

type Fields = Readonly<Record<string, unknown>>;

interface Unsent {
  readonly spec: CommandSpec;
  readonly request: CommandRequest;
  readonly given: Readonly<Record<string, unknown>>;
}

/** Reads the key from the environment, because other users can see command lines. */
export function curlCommand({ method, url, headers, body }: PlainRequest, parts: readonly string[] = []): string {
  const lines = [`curl${method === "GET" ? "" : ` -X ${method}`} ${forShell(url)}`];
  for (const [name, value] of Object.entries(headers))
    lines.push(
      name === "authorization" ? '-H "authorization: Bearer $SHOAL_API_KEY"' : `-H ${forShell(`${name}: ${value}`)}`,
    );
  if (body !== undefined) lines.push(`-d ${forShell(body)}`);
  lines.push(...parts);
  return lines.join(" \\\n  ");
}

/** With `***` in place of secrets, because terminals keep what they show. */
export async function printRequest(unsent: Unsent, flags: GlobalFlags, run: Run): Promise<void> {
  const { given, spec } = unsent;
  const request = withoutSecrets(unsent);
  const plain = plainRequest(spec, request, reach(flags, run, spec.open));
  const fields = new Map(spec.flags.map((flag) => [flag.field, flag.kind]));
  const parts =
    spec.body === "multipart"
      ? Object.entries(withMapParts(spec, request.body ?? {})).map(
          ([field, value]) =>
            `-F ${forShell(fields.get(field) === "file" ? `${field}=@${String(value)}` : `${field}=${typeof value === "string" ? value : JSON.stringify(value)}`)}`,
        )
      : spec.body === "bytes"
        ? [
            `-H 'content-type: ${spec.sends ?? "application/octet-stream"}'`,
            `--data-binary @${forShell(typeof given.file === "string" ? given.file : "-")}`,
          ]
        : [];
  await printPlain({ plain, parts, body: request.body, format: (given.output ?? "table") as OutputFormat }, run);
}

function withoutSecrets({ request, spec }: Unsent): CommandRequest {
  const { body } = request;
  if (body === undefined) return request;
  const secrets = spec.flags.filter(
    ({ field, place, secret }) => place === "body" && (secret === true || /(^|\.)env_vars$/.test(field)),
  );
  return { ...request, body: secrets.reduce<Fields>((fields, { field }) => hide(fields, field.split(".")), body) };
}

/** A copy whose value at the path is hidden: of a map, each value. */
function hide(fields: Fields, [name = "", ...rest]: readonly string[]): Fields {
  const value = fields[name];
  if (value === undefined || value === null) return fields;
  if (typeof value !== "object" || Array.isArray(value))
    return rest.length === 0 ? { ...fields, [name]: "***" } : fields;
  const inner = value as Fields;
  const hidden =
    rest.length === 0 ? Object.fromEntries(Object.keys(inner).map((key) => [key, "***"])) : hide(inner, rest);
  return { ...fields, [name]: hidden };
}

export async function printPlain(
  {
    plain,
    parts,
    body,
    format,
  }: { plain: PlainRequest; parts: readonly string[]; body: unknown; format: OutputFormat },
  { terminal }: Pick<Run, "terminal">,
): Promise<void> {
  const headers = Object.fromEntries(
    Object.entries(plain.headers).map(([name, value]) => [name, redactedHeader(name, value)]),
  );
  const curl = curlCommand(plain, parts);
  if (format === "table") {
    terminal.stdout.write(
      `${plain.method} ${plain.url}\n${Object.entries(headers)
        .map(([name, value]) => `${name}: ${value}\n`)
        .join("")}`,
    );
    if (body !== undefined) {
      terminal.stdout.write("\n");
      printJson(terminal, body);
    }
    terminal.stdout.write(`\n${curl}\n`);
    return;
  }
  const value = { method: plain.method, url: plain.url, headers, ...(body !== undefined && { body }), curl };
  if (format === "jsonl") printJsonLine(terminal, value);
  else await printValue(terminal, value, format);
}
