/** An entry of a credential provider. */
export interface FakeProviderItem {
  /** `Vault/Item` */
  readonly path: string;
  readonly urls?: readonly string[];
  readonly values: Readonly<Record<string, string>>;
  /** Base32 or an `otpauth://` URI. */
  readonly totp_secret?: string;
}
