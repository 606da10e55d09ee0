import type { Endpoint } from "@shoal/contract";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import { pipeline } from "node:stream/promises";
import { reach } from "../../connection/reach.ts";
import { ExitError, UsageError } from "../../core/errors.ts";
import { exitCodes, exitStatusOf } from "../../core/exit-codes.ts";
import type { GlobalFlags, OutputFormat, Run, Terminal } from "../../core/types.ts";
import { printable } from "../../output/format.ts";
import { printJson } from "../../output/output.ts";
import { plainSpec, printResult } from "../../output/print-result.ts";

interface ApiFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly query?: string;
  readonly data?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
}

interface ApiRequest {
  readonly method: Endpoint["method"];
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

export async function callPath(givenMethod: string, path: string, flags: ApiFlags, run: Run): Promise<void> {
  const request = await requestOf({ method: givenMethod, path }, flags, run);
  if (flags.dryRun === true) {
    await printRequest(request, flags, run);
    return;
  }
  const response = await send(request, flags, run);
  if (flags.include === true) printHead(response, run.terminal);
  const isJson = /^application\/([\w.+-]+\+)?json\b/.test(response.headers.get("content-type") ?? "");
  if (response.ok && !isJson) {
    await printBytes(response, run);
    return;
  }
  const answer = await response.text();
  const value = parsed(answer);
  if (response.ok && value !== undefined) await printAnswer(value, flags, run.terminal);
  else throw failure(request, { response, text: answer, value }, run.terminal);
}

async function requestOf(
  given: { readonly method: string; readonly path: string },
  flags: ApiFlags,
  run: Run,
): Promise<ApiRequest> {
  const { path } = given;
  const method = methods.find((name) => name === given.method.toUpperCase());
  if (method === undefined)
    throw new UsageError(`<method> must be one of ${methods.join(", ")}, not "${given.method}".`);
  if (!path.startsWith("/"))
    throw new UsageError("<path> must start with a slash, like /profiles. Set the service with --base-url.");
  return { method, path, headers: headersOf(flags.header), body: await bodyOf(flags.data, run) };
}

async function bodyOf(data: string | undefined, run: Run): Promise<unknown> {
  if (data === undefined) return undefined;
  let json = data;
  try {
    if (data === "-") json = await text(run.terminal.stdin);
    else if (data.startsWith("@")) json = readFileSync(data.slice(1), "utf8");
  } catch {
    throw new UsageError(`--data: cannot read the file ${data.slice(1)}.`);
  }
  try {
    return JSON.parse(json);
  } catch {
    throw new UsageError("--data must be JSON.");
  }
}

function headersOf(lines: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new UsageError(`--header must be name:value, not "${line}".`);
      return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
}

async function printRequest({ method, path, headers, body }: ApiRequest, flags: ApiFlags, run: Run): Promise<void> {
  const to = reach(flags, run);
  const { printPlain } = await import("../../operations/dry-run.ts");
  const plain = {
    method,
    url: `${to.baseUrl}${path}`,
    headers: { ...headers, authorization: `Bearer ${to.apiKey ?? ""}` },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  };
  await printPlain({ plain, parts: [], body, format: flags.output }, run);
}

async function send({ method, path, headers, body }: ApiRequest, flags: ApiFlags, run: Run): Promise<Response> {
  const schema = undefined as never;
  const endpoint: Endpoint = {
    operationId: `${method} ${path}`,
    area: "",
    plane: "control",
    method,
    // Escape braces, which mark placeholders.
    path: path.replaceAll("{", "%7B").replaceAll("}", "%7D"),
    summary: "",
    responses: { 200: { kind: "bytes", contentType: "application/json, */*;q=0.8" } },
    ...(body !== undefined && { body: { kind: "json", schema, optional: false } }),
    errors: [],
  };
  const { connect } = await import("../../connection/transport.ts");
  return connect(flags, run).fetch(endpoint, { body }, { signal: run.signal, headers });
}

function printHead(response: Response, { stderr }: Terminal): void {
  stderr.write(`${String(response.status)} ${printable(response.statusText)}\n`);
  for (const [name, value] of response.headers) stderr.write(`${name}: ${printable(value)}\n`);
}

async function printBytes({ body }: Response, { signal, terminal }: Run): Promise<void> {
  if (body === null) return;
  const source = Readable.fromWeb(body as Parameters<typeof Readable.fromWeb>[0]);
  await pipeline(source, terminal.stdout, { end: false, signal });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function printAnswer(value: unknown, { output, query }: ApiFlags, terminal: Terminal): Promise<void> {
  await printResult({ ...plainSpec, entry: { raw: true } }, value, {
    terminal,
    // The columns of an arbitrary response are unknown.
    format: output === "table" && query === undefined ? "json" : output,
    query,
    args: [],
    quiet: true,
  });
}

/** Prints the body of an error. @returns the error to throw. */
function failure(
  { method, path }: ApiRequest,
  { response, text, value }: { readonly response: Response; readonly text: string; readonly value: unknown },
  terminal: Terminal,
): ExitError {
  if (value === undefined) terminal.stdout.write(text === "" ? "" : `${text}\n`);
  else printJson(terminal, value);
  const message =
    typeof value === "object" && value !== null && "message" in value && typeof value.message === "string"
      ? value.message
      : `${method} ${path} failed.`;
  return new ExitError(
    response.ok ? exitCodes.error.status : exitStatusOf(response.status),
    message,
    `status ${String(response.status)}, request ${response.headers.get("x-request-id") ?? "unknown"}`,
  );
}
