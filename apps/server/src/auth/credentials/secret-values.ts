import { readTotp, type Totp } from "@shoal/primitives/totp";
import { invalidTotpSecret, totpSecretMissing } from "@shoal/contract/refusals";
import { ServiceError } from "@shoal/router";
import type { Envelopes, SealedPlace } from "../../storage/envelopes/envelopes.ts";

/** Names the row of a credential. */
export interface CredentialRef {
  readonly id: string;
  readonly project_id: string;
}

export interface SealedValue {
  readonly key: string;
  readonly sealed: Buffer;
}

/** Seals and opens the secrets of credentials. */
export class SecretValues {
  readonly #envelopes: Envelopes;
  readonly #table: string;

  /** @param table - of the values. */
  constructor(envelopes: Envelopes, table = "credential_values") {
    this.#envelopes = envelopes;
    this.#table = table;
  }

  sealAll(credential: CredentialRef, values: Readonly<Record<string, string>>): Promise<SealedValue[]> {
    return Promise.all(
      Object.entries(values).map(async ([key, value]) => ({
        key,
        sealed: await this.#envelopes.seal(value, placeOf(credential, `${this.#table}.${key}`)),
      })),
    );
  }

  async openAll(credential: CredentialRef, sealed: readonly SealedValue[]): Promise<Record<string, string>> {
    const values = await Promise.all(
      sealed.map(async ({ key, sealed: value }) => [
        key,
        await this.#envelopes.unseal(value, placeOf(credential, `${this.#table}.${key}`)),
      ]),
    );
    return Object.fromEntries(values) as Record<string, string>;
  }

  sealTotp(credential: CredentialRef, totp: Totp): Promise<Buffer> {
    return this.#envelopes.seal(JSON.stringify(totp), placeOf(credential, totpField));
  }

  async openTotp(credential: CredentialRef, sealed: Uint8Array): Promise<Totp> {
    // `sealTotp` wrote it.
    return JSON.parse(await this.#envelopes.unseal(sealed, placeOf(credential, totpField))) as Totp;
  }
}

const totpField = "credentials.totp";

function placeOf({ id, project_id }: CredentialRef, field: string): SealedPlace {
  return { projectId: project_id, id, field };
}

export interface TotpFields {
  readonly totp_secret?: string | undefined;
  readonly totp_algorithm?: Totp["algorithm"] | undefined;
  readonly totp_digits?: number | undefined;
  readonly totp_period?: number | undefined;
}

/** @throws {ServiceError} 400, without the secret in its text. */
export function requireTotp(fields: TotpFields): Totp | undefined {
  const missing = totpSecretMissing({ ...fields });
  if (missing !== undefined) throw ServiceError.of(missing);
  const { totp_algorithm: algorithm, totp_digits: digits, totp_period: period, totp_secret: secret } = fields;
  if (secret === undefined || secret === "") return undefined;
  const totp = readTotp(secret, {
    ...(algorithm !== undefined && { algorithm }),
    ...(digits !== undefined && { digits }),
    ...(period !== undefined && { period }),
  });
  if ("problem" in totp) throw ServiceError.of(invalidTotpSecret(totp.problem));
  return totp;
}
