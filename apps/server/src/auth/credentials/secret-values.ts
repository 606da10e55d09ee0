import { readTotp, type Totp } from "@shoal/primitives/totp";
import { invalidTotpSecret } from "@shoal/contract/refusals";
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

  constructor(envelopes: Envelopes) {
    this.#envelopes = envelopes;
  }

  sealAll(credential: CredentialRef, values: Readonly<Record<string, string>>): Promise<SealedValue[]> {
    return Promise.all(
      Object.entries(values).map(async ([key, value]) => ({
        key,
        sealed: await this.#envelopes.seal(value, placeOf(credential, `credential_values.${key}`)),
      })),
    );
  }

  async openAll(credential: CredentialRef, sealed: readonly SealedValue[]): Promise<Record<string, string>> {
    const values = await Promise.all(
      sealed.map(async ({ key, sealed: value }) => [
        key,
        await this.#envelopes.unseal(value, placeOf(credential, `credential_values.${key}`)),
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

/** @throws {ServiceError} 400 without the secret. */
export function requireTotp(secret: string): Totp {
  const totp = readTotp(secret);
  if ("problem" in totp) throw ServiceError.of(invalidTotpSecret(totp.problem));
  return totp;
}
