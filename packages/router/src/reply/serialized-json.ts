class SerializedJson {
  readonly bytes: Buffer;

  constructor(bytes: Buffer) {
    this.bytes = bytes;
  }
}

/**
 * Wraps serialized JSON, made in another thread for example, as a result or as items of a page. The router sends the
 * text unchanged. @param bytes - UTF-8 that fits the contract; not checked.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- the type of the serialized value
export function serializedJson<Value>(bytes: Uint8Array): Value {
  return new SerializedJson(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)) as Value;
}

/** @returns `undefined` for any other value. */
export function serializedBytes(value: unknown): Buffer | undefined {
  return value instanceof SerializedJson ? value.bytes : undefined;
}
