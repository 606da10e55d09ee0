import type { OperationsOf } from "@shoal/contract";
import {
  credentialNameTaken,
  credentialNotFound,
  invalidDomain,
  invalidTotpSecret,
  maxCredentialValues,
  noTotpSecret,
  tooManyValues,
  totpSecretMissing,
} from "@shoal/contract/refusals";
import { createId, siteDomain } from "@shoal/primitives";
import { readTotp, type Totp, totpCode } from "@shoal/primitives/totp";
import { ServiceError, type Handlers } from "@shoal/router";
import type { Credential } from "@shoal/schemas";
import type { Access } from "../state/access.ts";
import { byText, holds, pageOf } from "../state/listing.ts";
import type { CredentialRow, Store } from "../state/store.ts";

function toCredential(row: CredentialRow): Credential {
  return {
    id: row.id,
    name: row.name,
    domain: row.domain,
    sites: [...row.sites],
    has_values: row.values.size > 0,
    has_totp_secret: row.totp !== undefined,
    sso_provider: row.ssoProvider,
    created_at: row.createdAt,
    updated_at: row.updatedAt,
  };
}

const withKeys = (row: CredentialRow): Credential => ({
  ...toCredential(row),
  value_keys: [...row.values.keys()].sort(byText),
});

function requireSites(sites: readonly string[]): string[] {
  return sites.map((text, index) => {
    const site = siteDomain(text);
    if (site === undefined) throw ServiceError.of(invalidDomain(`body.sites[${String(index)}]`));
    return site;
  });
}

interface TotpFields {
  readonly totp_secret?: string | undefined;
  readonly totp_algorithm?: Totp["algorithm"] | undefined;
  readonly totp_digits?: number | undefined;
  readonly totp_period?: number | undefined;
}

function requireTotp(fields: TotpFields): Totp | undefined {
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

function withCode(row: CredentialRow, totp: Totp | undefined): Credential {
  if (totp === undefined) return withKeys(row);
  const { code, expiresAt } = totpCode(totp, new Date());
  return { ...withKeys(row), totp_code: code, totp_code_expires_at: expiresAt.toISOString() };
}

const textOrNull = (text: string | null | undefined) => (text === undefined || text === "" ? null : text);

export function credentialHandlers(store: Store): Handlers<OperationsOf<"credentials">, Access> {
  const ofProject = (projectId: string) => store.credentials.filter((row) => row.projectId === projectId);

  function existing(projectId: string, idOrName: string): CredentialRow {
    const rows = ofProject(projectId);
    const found = rows.find(({ id }) => id === idOrName) ?? rows.find(({ name }) => name === idOrName);
    if (found === undefined) throw ServiceError.of(credentialNotFound(idOrName));
    return found;
  }

  function refuseTaken(projectId: string, name: string, but?: CredentialRow): void {
    if (ofProject(projectId).some((row) => row !== but && row.name === name))
      throw ServiceError.of(credentialNameTaken(name));
  }

  return {
    createCredential: ({ body, context: { projectId } }) => {
      const domain = siteDomain(body.domain);
      if (domain === undefined) throw ServiceError.of(invalidDomain("body.domain"));
      const totp = requireTotp(body);
      refuseTaken(projectId, body.name);
      const now = new Date().toISOString();
      const row: CredentialRow = {
        id: createId(),
        projectId,
        name: body.name,
        domain,
        sites: requireSites(body.sites ?? []),
        ssoProvider: textOrNull(body.sso_provider),
        values: new Map(Object.entries(body.values)),
        totp,
        createdAt: now,
        updatedAt: now,
      };
      store.credentials.push(row);
      return withCode(row, totp);
    },
    listCredentials: ({ query: { query: part, domain, ...window }, context }) => {
      const found = ofProject(context.projectId).filter(
        (row) =>
          (part === undefined || holds(row.name, part) || holds(row.domain, part) || row.id === part) &&
          (domain === undefined || row.domain === siteDomain(domain)),
      );
      return pageOf(found.reverse(), window, toCredential);
    },
    getCredential: ({ params, context }) => withKeys(existing(context.projectId, params.id_or_name)),
    updateCredential: ({ params, body, context }) => {
      const row = existing(context.projectId, params.id_or_name);
      const totp = requireTotp(body);
      const sites = body.sites === undefined ? row.sites : requireSites(body.sites);
      const values = new Map(row.values);
      for (const key of body.remove_value_keys ?? []) values.delete(key);
      for (const [key, value] of Object.entries(body.values ?? {})) values.set(key, value);
      if (values.size > maxCredentialValues) throw ServiceError.of(tooManyValues(values.size));
      if (body.name !== undefined) refuseTaken(context.projectId, body.name, row);
      row.name = body.name ?? row.name;
      row.values = values;
      row.sites = sites;
      if (body.sso_provider !== undefined) row.ssoProvider = textOrNull(body.sso_provider);
      if (body.totp_secret !== undefined) row.totp = totp;
      row.updatedAt = new Date().toISOString();
      return withCode(row, totp);
    },
    deleteCredential: ({ params, context }) => {
      const row = existing(context.projectId, params.id_or_name);
      store.credentials.splice(store.credentials.indexOf(row), 1);
      for (const connection of store.connections) if (connection.credential === row) connection.credential = undefined;
    },
    getTotpCode: ({ params, context }) => {
      const { totp } = existing(context.projectId, params.id_or_name);
      if (totp === undefined) throw ServiceError.of(noTotpSecret(params.id_or_name));
      const { code, expiresAt } = totpCode(totp, new Date());
      return { code, expires_at: expiresAt.toISOString() };
    },
  };
}
