import { insteadOfJson, serializedJson } from "@shoal/router";
import type { RenderedPage } from "@shoal/schemas";
import type { IncomingHttpHeaders } from "node:http";
import { Readable } from "node:stream";
import type { Rendered } from "./renders.ts";

/** The file alone if it is the only output and its type is accepted, else JSON with everything. */
export function answerOf(rendered: Rendered, { accept }: IncomingHttpHeaders): RenderedPage {
  const [only, ...others] = rendered.parts;
  if (only !== undefined && others.length === 0) {
    const [name, { content, type }] = only;
    if ((name === "screenshot" || name === "pdf") && accepts(accept, type))
      return insteadOfJson({ contentType: type, sizeBytes: content.length, stream: Readable.from([content]) });
  }
  return serializedJson(Buffer.from(jsonOf(rendered)));
}

function accepts(accept: string | undefined, type: string): boolean {
  const accepted = (accept ?? "").split(",").map((one) => (one.split(";")[0] ?? "").trim().toLowerCase());
  return !accepted.includes("application/json") && accepted.some((one) => one === type || one === typeRange(type));
}

const typeRange = (type: string): string => type.replace(/\/.*/, "/*");

/** Without parsing the parts of the instance that are JSON: its client gets them as they are, as from other operations. */
function jsonOf({ head, parts, sessionId }: Rendered): string {
  const fields = Object.entries({ session_id: sessionId, ...head }).flatMap(([name, value]) =>
    value === undefined ? [] : [`${JSON.stringify(name)}:${JSON.stringify(value)}`],
  );
  for (const [name, { content, type }] of parts) {
    const isJson = name === "links" || name === "elements";
    const isFile = name === "screenshot" || name === "pdf";
    const value = isJson
      ? content.toString()
      : JSON.stringify(isFile ? { content_type: type, data: content.toString("base64") } : content.toString());
    fields.push(`${JSON.stringify(name)}:${value}`);
  }
  return `{${fields.join(",")}}`;
}
