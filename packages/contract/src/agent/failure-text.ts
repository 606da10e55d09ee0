/** Names of tools by the operation that they call. The service names its operations; a model knows tools. */
export type ToolNames = ReadonlyMap<string, string>;

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
export function failureText({ code, details = [], fields = {}, hint, message }: Failure, tools: ToolNames): string {
  const told = (text: string) => forTools(text, tools);
  const rows = [`${code}: ${told(message)}`, ...details.map(told)];
  if (Object.keys(fields).length > 0) rows.push(told(JSON.stringify(fields)));
  if (hint !== undefined && !message.includes(hint)) rows.push(`Next step: ${told(hint)}`);
  return rows.join("\n");
}

/** Replaces names of operations by those of tools, and paths in requests, as `body.ref`, by fields. */
export function forTools(message: string, tools: ToolNames): string {
  return message
    .replaceAll(/\b(?:browsers|profiles)\.[A-Za-z.]*[A-Za-z]/g, (name) => tools.get(name) ?? name)
    .replaceAll(/(?<![\w./])(?:body|query|params)\.(?=[a-z_])/g, "");
}
