import type { Endpoint } from "@shoal/contract";
import type { CommandSpec, ResultKind } from "./command-table.ts";

type Content = Endpoint["responses"][number];

/**
 * An operation of the command table as the transport takes it: without schemas. The service checks what it gets, and answers are printed
 * as they are, so no command loads the contract's schemas.
 */
export function endpointOf(spec: CommandSpec): Endpoint {
  // Never looked at: the command's transport does not validate, and a multipart body says by itself what is a file.
  const schema = undefined as never;
  const contents: Readonly<Record<ResultKind, Content>> = {
    json: { kind: "json", schema },
    page: { kind: "page", item: schema },
    tokenPage: { kind: "tokenPage", item: schema },
    events: { kind: "events", event: schema },
    bytes: { kind: "bytes", contentType: spec.receives ?? "application/octet-stream" },
    empty: { kind: "empty" },
  };
  const bodies = {
    json: { kind: "json", schema, optional: false },
    multipart: { kind: "multipart", schema },
    bytes: { kind: "bytes", contentType: spec.sends ?? "application/octet-stream" },
  } as const;
  return {
    operationId: spec.operationId,
    area: "",
    plane: "control",
    // The table is made from the contract's own document.
    method: spec.method as Endpoint["method"],
    path: spec.path,
    summary: spec.summary,
    ...(spec.body !== "none" && { body: bodies[spec.body] }),
    responses: Object.fromEntries(Object.entries(spec.responses).map(([status, kind]) => [Number(status), contents[kind]])),
    errors: [],
    ...(spec.open === true && { auth: "none" as const }),
  };
}
