import type { Endpoint } from "../base/endpoint.ts";
import * as contract from "../operations.ts";

/** An error of a call. */
export interface Failure {
  readonly code: string;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly fields?: Readonly<Record<string, unknown>>;
  readonly details?: readonly string[];
}

/** The failure in an error answer of the service, such as the error that the transport throws. */
export function failureOfAnswer(answer: {
  readonly code: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly details?: readonly { readonly message?: string | undefined }[] | undefined;
}): Failure {
  const { hint, ...fields } = answer.fields;
  return {
    code: answer.code,
    message: answer.message,
    hint: typeof hint === "string" ? hint : undefined,
    fields,
    details: (answer.details ?? []).flatMap(({ message }) => message ?? []),
  };
}

/** Text for an error that a model can act on: code, message, details, fields, next step. */
export function failureText({ code, details = [], fields = {}, hint, message }: Failure): string {
  const rows = [`${code}: ${forTools(message)}`, ...details.map(forTools)];
  if (Object.keys(fields).length > 0) rows.push(forTools(JSON.stringify(fields)));
  if (hint !== undefined && !message.includes(hint)) rows.push(`Next step: ${forTools(hint)}`);
  return rows.join("\n");
}

/** The service names its operations; a model knows tools. */
const toolsOfOperations = (): ReadonlyMap<string, string> =>
  (tools ??= new Map(
    Object.values<Endpoint>(contract).flatMap(({ operationId, tool }) =>
      tool === undefined ? [] : [[operationId, tool] as const],
    ),
  ));
let tools: ReadonlyMap<string, string> | undefined;

/** Replaces names of operations by those of tools, and paths in requests, as `body.ref`, by fields. */
export function forTools(message: string): string {
  return message
    .replaceAll(/\b(?:browsers|profiles)\.[A-Za-z.]*[A-Za-z]/g, (name) => toolsOfOperations().get(name) ?? name)
    .replaceAll(/(?<![\w./])(?:body|query|params)\.(?=[a-z_])/g, "");
}
