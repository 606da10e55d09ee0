import type { Endpoint } from "@shoal/contract";
import type { CommandSpec, ResultKind } from "../core/types.ts";

type Content = Endpoint["responses"][number];

/** Returns an endpoint without schemas: the service validates requests, so that no command loads the schemas. */
export function endpointOf(spec: CommandSpec): Endpoint {
  // Never read: the transport of commands does not validate, and multipart bodies contain File objects.
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
    // The table is derived from the contract, so its methods are valid.
    method: spec.method as Endpoint["method"],
    path: spec.path,
    summary: spec.summary,
    ...(spec.body !== "none" && { body: bodies[spec.body] }),
    responses: Object.fromEntries(
      Object.entries(spec.responses).map(([status, kind]) => [Number(status), contents[kind]]),
    ),
    errors: [],
    ...(spec.open === true && { auth: "none" as const }),
  };
}
