/**
 * A master key outside of Shoal, for example in a key management service. Shoal encrypts each stored secret with its own
 * data key, and stores that key wrapped by the master key. Name the ES module that exports a
 * `createKeyManagement(): KeyManagement | Promise<KeyManagement>` in the setting `master_key_module`.
 *
 * Calls run concurrently, at most 8 at a time, and fail after 10 seconds.
 */
export interface KeyManagement {
  /** Of the present master key: 1 to 200 printable ASCII characters. Stored with each wrapped key. */
  readonly keyId: string;
  /** Encrypts a data key of 32 bytes with the present master key. @returns 1 to 4096 bytes. */
  wrap(dataKey: Uint8Array): Promise<Uint8Array>;
  /** Decrypts a wrapped data key. @param keyId - of the master key that wrapped it: the present one or an older one. */
  unwrap(wrapped: Uint8Array, keyId: string): Promise<Uint8Array>;
  /** Called once, when the program ends. */
  close?(): Promise<void>;
}

/** Exports of the module in `master_key_module`. */
export interface KeyManagementModule {
  /** Called once, when the program starts. */
  createKeyManagement(): KeyManagement | Promise<KeyManagement>;
}
