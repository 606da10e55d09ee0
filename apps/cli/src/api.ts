import type { Endpoint } from "@shoal/contract";
import { readFileSync } from "node:fs";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type GlobalFlags, reach } from "./connect.ts";
import { ExitError } from "./exit-error.ts";
import { exitCodes, exitStatusOf } from "./exit-codes.ts";
import { printable } from "./format.ts";
import { type OutputFormat, printJson } from "./output.ts";
import { printResult } from "./print-result.ts";
import type { Run } from "./program.ts";
import { UsageError } from "./values.ts";

/** What `shoal api` is given beside method and path. */
interface ApiFlags extends GlobalFlags {
  readonly output: OutputFormat;
  readonly query?: string;
  readonly data?: string;
  readonly header?: readonly string[];
  readonly include?: boolean;
}

const methods = ["GET", "POST", "PUT", "PATCH", "DELETE"] as const;

function bodyOf(data: string | undefined): unknown {
  if (data === undefined) return undefined;
  let text = data;
  try {
    if (data === "-") text = readFileSync(0, "utf8");
    else if (data.startsWith("@")) text = readFileSync(data.slice(1), "utf8");
  } catch {
    throw new UsageError(`--data: the file ${data.slice(1)} cannot be read.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw new UsageError("--data takes JSON.");
  }
}

function headersOf(lines: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    lines.map((line) => {
      const at = line.indexOf(":");
      if (at < 1) throw new UsageError(`--header takes name:value, not "${line}".`);
      return [line.slice(0, at).trim().toLowerCase(), line.slice(at + 1).trim()];
    }),
  );
}

/** `shoal api`: one request to any path of the service. */
export async function callPath(asked: string, path: string, flags: ApiFlags, run: Run): Promise<void> {
  const method = methods.find((name) => name === asked.toUpperCase());
  if (method === undefined) throw new UsageError(`<method> is one of ${methods.join(", ")}, not "${asked}".`);
  if (!path.startsWith("/")) throw new UsageError(`<path> begins with a slash: /profiles. The service's address is --base-url.`);
  const body = bodyOf(flags.data);
  const headers = headersOf(flags.header);
  const { terminal } = run;
  if (flags.dryRun === true) {
    const to = reach(flags, run);
    const { printPlain } = await import("./dry-run.ts");
    const plain = {
      method,
      url: `${to.baseUrl}${path}`,
      headers: { ...headers, authorization: `Bearer ${to.apiKey ?? ""}` },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    };
    await printPlain({ plain, parts: [], body, format: flags.output }, run);
    return;
  }
  const schema = undefined as never;
  const endpoint: Endpoint = {
    operationId: `${method} ${path}`,
    area: "",
    plane: "control",
    method,
    // Braces would be placeholders.
    path: path.replaceAll("{", "%7B").replaceAll("}", "%7D"),
    summary: "",
    responses: { 200: { kind: "bytes", contentType: "application/json, */*;q=0.8" } },
    ...(body !== undefined && { body: { kind: "json", schema, optional: false } }),
    errors: [],
  };
  const { connect } = await import("./transport.ts");
  const response = await connect(flags, run).fetch(endpoint, { body }, { signal: run.signal, headers });
  if (flags.include === true) {
    terminal.stderr.write(`${String(response.status)} ${printable(response.statusText)}\n`);
    for (const [name, value] of response.headers) terminal.stderr.write(`${name}: ${printable(value)}\n`);
  }
  const isJson = /^application\/([\w.+-]+\+)?json\b/.test(response.headers.get("content-type") ?? "");
  if (response.ok && !isJson) {
    if (response.body)
      await pipeline(Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]), terminal.stdout, { end: false, signal: run.signal });
    return;
  }
  const text = await response.text();
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    value = undefined;
  }
  if (response.ok && value !== undefined) {
    await printResult(
      {
        operationId: endpoint.operationId,
        words: [],
        summary: "",
        description: "",
        method,
        path,
        params: [],
        flags: [],
        body: "none",
        result: "json",
        responses: {},
        fields: [],
        polish: { raw: true },
      },
      value,
      {
        terminal,
        // There is no table of what nobody knows.
        format: flags.output === "table" && flags.query === undefined ? "json" : flags.output,
        query: flags.query,
        args: [],
        quiet: true,
      },
    );
    return;
  }
  if (value === undefined) terminal.stdout.write(text === "" ? "" : `${text}\n`);
  else printJson(terminal, value);
  const message =
    typeof value === "object" && value !== null && "message" in value && typeof value.message === "string"
      ? value.message
      : `${method} ${path} failed.`;
  throw new ExitError(
    response.ok ? exitCodes.error.status : exitStatusOf(response.status),
    message,
    `status ${String(response.status)}, request ${response.headers.get("x-request-id") ?? "unknown"}`,
  );
}
