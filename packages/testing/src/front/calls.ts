import { createQueryReader } from "@shoal/router";
import type { FoundEndpoint } from "@shoal/router/http";
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from "node:http";
import { directRequest } from "./direct-path.ts";
import * as z from "zod/mini";

/** A request that the fake received. */
export interface FakeCall {
  /** The operation, `profiles.get`; `undefined` if no operation has this method and path. */
  readonly operationId: string | undefined;
  readonly method: string;
  /** The raw path, with the query. */
  readonly path: string;
  /** The path's placeholders, decoded; empty if they are invalid. */
  readonly params: Readonly<Record<string, unknown>>;
  /** The checked query, with its defaults; empty if it is invalid. */
  readonly query: Readonly<Record<string, unknown>>;
  /** The checked JSON body; `undefined` for other and invalid bodies. */
  readonly body: unknown;
  /** Lower-case names. */
  readonly headers: Readonly<IncomingHttpHeaders>;
  /** Status of the answer; `undefined` before the answer and for cut connections. */
  readonly status: number | undefined;
}

export interface RecordedCall {
  readonly call: { -readonly [Field in keyof FakeCall]: FakeCall[Field] };
  /** @param bytes - of a JSON body. */
  setBody(bytes: Buffer): void;
}

export function recordCall(
  request: IncomingMessage,
  response: ServerResponse,
  found: FoundEndpoint | undefined,
): RecordedCall {
  let answered: number | undefined;
  let open: ServerResponse | undefined = response;
  const statusOf = () => (open?.headersSent === true ? open.statusCode : answered);
  response.on("close", () => {
    answered = statusOf();
    open = undefined;
  });
  const { method = "GET", url: path = "/" } = request;
  const { endpoint, params = {} } = found ?? {};
  const call: RecordedCall["call"] = {
    operationId: endpoint?.operationId,
    method,
    path,
    params: checked(endpoint?.params, params) ?? {},
    query: queryOf(endpoint?.query, directRequest(path)?.url ?? path) ?? {},
    body: undefined,
    headers: { ...request.headers },
    // An own property, so that copies and comparisons include it.
    get status() {
      return statusOf();
    },
  };
  return {
    call,
    setBody(bytes) {
      if (endpoint?.body?.kind !== "json") return;
      try {
        call.body = checked(endpoint.body.schema, JSON.parse(bytes.toString()));
      } catch {
        // The service refuses it.
      }
    },
  };
}

function queryOf(schema: z.core.$ZodType | undefined, path: string): Readonly<Record<string, unknown>> | undefined {
  if (schema === undefined) return undefined;
  const at = path.indexOf("?");
  return checked(schema, { ...createQueryReader(schema)(at === -1 ? "" : path.slice(at + 1)).value });
}

function checked(schema: z.core.$ZodType | undefined, value: unknown): Readonly<Record<string, unknown>> | undefined {
  if (schema === undefined) return undefined;
  const parsed = z.safeParse(schema, value);
  return parsed.success ? (parsed.data as Readonly<Record<string, unknown>>) : undefined;
}
