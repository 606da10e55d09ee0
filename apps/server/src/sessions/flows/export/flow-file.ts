import { invalid } from "@shoal/contract/refusals";
import { exceededJsonBound, type JsonBounds } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import { CreateFlow, type Flow } from "@shoal/schemas";
import type * as z from "zod/mini";
import { contentOf } from "../flows.ts";

const bounds: JsonBounds = { values: 50_000, depth: 50 };
/** Begins the last line of an exported program, after the comment sign. */
const marker = "shoal-flow: ";

/** The flow alone, as a file. */
export function flowJson(flow: Flow): string {
  return `${JSON.stringify({ name: flow.name, version: flow.version, ...contentOf(flow) }, null, 2)}\n`;
}

/** The flow as one line, for a comment. ASCII alone: other line ends would end the comment. */
export function flowComment(sign: "//" | "#", flow: Flow): string {
  const json = JSON.stringify({ name: flow.name, version: flow.version, ...contentOf(flow) });
  return `${sign} ${marker}${toAscii(json)}\n`;
}

/** JSON, or a JavaScript string, in ASCII. */
export function toAscii(json: string): string {
  return json.replaceAll(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** @param name - instead of the name in the file. @throws {ServiceError} 400 */
export function readFlowFile(text: string, name: string | undefined): z.output<typeof CreateFlow> {
  const line = text.split("\n").findLast((one) => /^(?:\/\/|#) shoal-flow: /.test(one));
  const json = line === undefined ? text : line.slice(line.indexOf(marker) + marker.length);
  if (line === undefined && !text.trimStart().startsWith("{"))
    throw ServiceError.of(
      invalid("body.text", "is not a file of flows.export: the line `shoal-flow:` is missing", {
        hint: "Other Playwright programs cannot be imported. Record the flow with flows.record.",
      }),
    );
  if (exceededJsonBound(Buffer.from(json), bounds) !== undefined)
    throw ServiceError.of(unreadable("its JSON is too large"));
  const parsed = CreateFlow.safeParse({ ...parse(json), ...(name !== undefined && { name }) });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw ServiceError.of(unreadable(`${issue?.path.join(".") ?? "it"}: ${issue?.message ?? "is invalid"}`));
}

function parse(json: string): object {
  try {
    const value: unknown = JSON.parse(json);
    if (typeof value === "object" && value !== null) return value;
  } catch {
    // Reported below.
  }
  throw ServiceError.of(unreadable("its JSON is invalid"));
}

function unreadable(problem: string) {
  return invalid("body.text", `is not a flow: ${problem}`, { hint: "Export the flow again with flows.export." });
}
