import type { BytesReply } from "../handler/handler.ts";

class OtherBytes {
  readonly reply: BytesReply;

  constructor(reply: BytesReply) {
    this.reply = reply;
  }
}

/**
 * Wraps bytes as the result of an endpoint that answers JSON, for a client that accepts their type.
 * @param reply - its `contentType` is among `alsoTypes` of the endpoint.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the JSON value
export function insteadOfJson<Value>(reply: BytesReply & { readonly contentType: string }): Value {
  return new OtherBytes(reply) as Value;
}

/** @returns `undefined` for any other value. */
export function otherBytes(value: unknown): BytesReply | undefined {
  return value instanceof OtherBytes ? value.reply : undefined;
}
