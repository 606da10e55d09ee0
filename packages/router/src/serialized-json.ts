/** JSON that a handler has as text already. */
class SerializedJson {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/**
 * Stands for a value whose JSON exists already, made in another thread for example; the answer is that text as it is. A handler returns it in place of the
 * value, or as the items of a page. Nothing but the router can read it.
 *
 * @param bytes - UTF-8 that fits the contract: it is not checked.
 */
// eslint-disable-next-line @typescript-eslint/no-unnecessary-type-parameters -- what the text stands for, which the text cannot tell
export function serializedJson<Value>(bytes: Uint8Array): Value {
  return new SerializedJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as Value;
}

/** @returns its text; `undefined` for any other value. */
export function serializedBytes(value: unknown): Buffer | undefined {
  return value instanceof SerializedJson ? value.bytes : undefined;
}
