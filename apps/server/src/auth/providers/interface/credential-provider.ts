/** A place in a secret store that contains items: a vault, a mount, a project. */
export interface ProviderVault {
  readonly id: string;
  readonly name: string;
}

/** An entry of a secret store, without its secrets. */
export interface ProviderItem {
  /** The store's own identifier. */
  readonly id: string;
  readonly title: string;
  /** `VAULT/ITEM`. {@link CredentialProvider.read} accepts it. */
  readonly path: string;
  readonly vault: ProviderVault;
  /** Sites of the item: URLs, host names, or `*.example.com`. */
  readonly urls: readonly string[];
}

/** A one-time code: its shared secret (Base32 or an `otpauth://` URI), or the code of this moment. */
export type ProviderTotp = { readonly secret: string } | { readonly code: string };

/** The values of an item. */
export interface ProviderValues {
  /** `username`, `email`, `password`, and the store's own names of other fields. */
  readonly values: Readonly<Record<string, string>>;
  readonly totp?: ProviderTotp | undefined;
  /** Sites of the item, where {@link CredentialProvider.items} does not list them. */
  readonly urls?: readonly string[] | undefined;
}

/** An item to read. Only `path` is present if a person wrote it. */
export type ItemReference = Pick<ProviderItem, "path"> & Partial<Pick<ProviderItem, "id" | "vault">>;

/**
 * A connection to one secret store. Its methods reject with an `Error` whose message completes "NAME: …" for people,
 * without secrets. An error with a `retryAfterMs` pauses requests to the store for this time.
 */
export interface CredentialProvider {
  /** Signs in and lists the vaults. */
  test(signal: AbortSignal): Promise<readonly ProviderVault[]>;
  /** Lists all items, at most {@link maxItems}. */
  items(signal: AbortSignal): Promise<readonly ProviderItem[]>;
  /** Searches for items of a site, if the store can search. The service checks their `urls` again. */
  find?(domain: string, signal: AbortSignal): Promise<readonly ProviderItem[]>;
  /** Returns `undefined` if the item does not exist. */
  read(item: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined>;
}

/** A setting of a kind of provider, as text. */
export interface ProviderSetting {
  /** For error messages, such as `the address of Vault, https://vault.example:8200`. */
  readonly description: string;
  readonly isRequired?: true;
  /** An http or https URL to which the provider connects. Private hosts need the permission of the operator. */
  readonly isAddress?: true;
  readonly fallback?: string;
}

/** The values that a person stored, complete with fallbacks. */
export interface ProviderOptions {
  readonly settings: Readonly<Record<string, string>>;
  readonly token: string;
  readonly http: ProviderHttp;
}

/** A problem of the stored options. */
export interface ProviderProblem {
  /** `token`, or `settings.NAME`. */
  readonly field: string;
  /** Follows a colon; without the token. */
  readonly problem: string;
}

/** A kind of secret store, such as Vault. A package exports its kinds as `credentialProviders`. */
export interface CredentialProviderKind {
  /** The `provider_type`: lower-case letters, digits and `_`. */
  readonly kind: string;
  /** For messages: `HashiCorp Vault`. */
  readonly title: string;
  readonly settings: Readonly<Record<string, ProviderSetting>>;
  /** Checks the token and the settings without a request, before they are stored. */
  check?(token: string, settings: Readonly<Record<string, string>>): ProviderProblem | undefined;
  /** Must not connect. The service keeps the provider for several calls, and calls it concurrently. */
  open(options: ProviderOptions): CredentialProvider;
}

/** A request to a secret store. */
export interface ProviderRequest {
  readonly url: string | URL;
  /** @defaultValue `GET` */
  readonly method?: "GET" | "POST" | "LIST";
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as it is if it is a string, as JSON otherwise. */
  readonly body?: unknown;
  readonly signal: AbortSignal;
  /** Statuses other than 2xx that do not reject, such as 404. */
  readonly accepts?: readonly number[];
}

/** The answer of a secret store. */
export interface ProviderAnswer {
  readonly status: number;
  /** The parsed body, at most 1 MiB of JSON; `undefined` if it is empty. */
  readonly json: unknown;
}

/**
 * The HTTP client for secret stores. It connects to public addresses and to the operator's private hosts only, follows
 * no redirect, bounds answers, and repeats a request once after a short `retry-after`.
 */
export interface ProviderHttp {
  /** @throws {Error} in words, without secrets. */
  send(request: ProviderRequest): Promise<ProviderAnswer>;
}

/** The largest number of items that a provider returns. */
export const maxItems = 1000;
