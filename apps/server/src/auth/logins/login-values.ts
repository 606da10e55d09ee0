import type { StoredValues } from "@shoal/login";
import { readTotp, type Totp, totpCode } from "@shoal/primitives/totp";
import { messageOf } from "@shoal/primitives";
import { setTimeout as delay } from "node:timers/promises";
import type { Log } from "../../log/log.ts";
import type { ConnectionRow } from "../connections/connection-row.ts";
import type { Credentials } from "../credentials/credentials.ts";
import type { CredentialLookup } from "../providers/credential-lookup.ts";
import { typingOrigins } from "./typing-origins.ts";

export interface LoginValuesParts {
  readonly credentials: Pick<Credentials, "open">;
  readonly credentialLookup: CredentialLookup;
  readonly log: Log;
}

type CredentialOfConnection = Pick<
  ConnectionRow,
  "credential_id" | "credential_path" | "credential_provider" | "domain" | "id" | "project_id"
>;

interface Found {
  readonly values: Readonly<Record<string, string>>;
  readonly totp?: Totp | undefined;
  /** A provider that generates the codes itself. */
  readonly code?: (() => Promise<string | undefined>) | undefined;
  readonly ssoProvider?: string | undefined;
  /** The only sites on which the values may be typed; the connection cannot widen them. */
  readonly sites?: readonly string[];
  /** Why a part of the values is missing. */
  readonly note?: string | undefined;
}

/** A code must stay valid until the site has checked it. */
const leastValidityMs = 2_000;

/** The stored values of a connection. They stay in memory for one login. */
export class LoginValues {
  readonly ssoProvider: string | undefined;
  /** For people: why stored values are missing. */
  readonly note: string | undefined;
  /** For `Login`. */
  readonly origins: readonly string[];
  readonly #found: Found;
  readonly #signal: AbortSignal;
  #lastCode: string | undefined;

  private constructor(found: Found, signal: AbortSignal) {
    this.#found = found;
    this.#signal = signal;
    this.ssoProvider = found.ssoProvider;
    this.note = found.note;
    this.origins = typingOrigins({ sites: found.sites ?? [], ssoProvider: found.ssoProvider });
  }

  /** Values that cannot be read are missing, so that a person is asked. Rejects only when `signal` aborts. */
  static async open(
    parts: LoginValuesParts,
    connection: CredentialOfConnection,
    signal: AbortSignal,
  ): Promise<LoginValues> {
    if (connection.credential_id !== null)
      return new LoginValues(await fromCredential(parts, connection, connection.credential_id), signal);
    if (connection.credential_provider !== null)
      return new LoginValues(await fromProvider(parts, connection, signal), signal);
    return new LoginValues({ values: {} }, signal);
  }

  /** For `Login`. */
  readonly stored: StoredValues = (name) => {
    const { code, totp, values } = this.#found;
    if (name === "otp" && code !== undefined) return code();
    if (name === "otp" && totp !== undefined) return this.#freshCode(totp);
    return Promise.resolve(Object.hasOwn(values, name) ? values[name] : undefined);
  };

  /** Waits for the next code if the present one was used before or ends soon. */
  async #freshCode(totp: Totp): Promise<string> {
    const { code, expiresAt } = totpCode(totp, new Date());
    const validMs = expiresAt.getTime() - Date.now();
    if (code !== this.#lastCode && validMs >= leastValidityMs) return (this.#lastCode = code);
    await delay(Math.max(0, validMs) + 50, undefined, { signal: this.#signal });
    return (this.#lastCode = totpCode(totp, new Date()).code);
  }
}

async function fromCredential(
  { credentials, log }: LoginValuesParts,
  { id: connectionId, project_id }: CredentialOfConnection,
  credentialId: string,
): Promise<Found> {
  try {
    const { domain, sites, sso_provider, totp, values } = await credentials.open(project_id, credentialId);
    return { values, totp, ssoProvider: sso_provider ?? undefined, sites: [domain, ...sites] };
  } catch (error) {
    log.warn({ connection_id: connectionId, err: error }, "the credential of a login could not be opened");
    return { values: {}, note: `The stored credential could not be used: ${messageOf(error)}` };
  }
}

async function fromProvider(
  { credentialLookup, log }: LoginValuesParts,
  { credential_path: path, credential_provider, domain, id, project_id }: CredentialOfConnection,
  signal: AbortSignal,
): Promise<Found> {
  const provider = credential_provider ?? "";
  const wanted = path === null ? { domain, provider } : { path, provider };
  const find = () => credentialLookup.find(project_id, wanted, signal);
  const found = await find();
  if ("reasons" in found) {
    const reasons = found.reasons.map((each) => `${each.provider}: ${each.reason}`).join(" ");
    log.info({ connection_id: id, reasons }, "a credential provider had no values for a login");
    return { values: {}, note: `The credential provider could not be used, so a person is asked. ${reasons}` };
  }
  const { sites, totp, values } = found;
  if (sites.length === 0)
    return {
      values: {},
      note: `The item ${found.source.path} of ${provider} names no site, so its values are typed nowhere. An administrator can add the address of its site to the item.`,
    };
  if (totp === undefined) return { values, sites };
  if ("code" in totp)
    return {
      values,
      sites,
      async code() {
        const again = await find();
        return "values" in again && again.totp !== undefined && "code" in again.totp ? again.totp.code : undefined;
      },
    };
  const read = readTotp(totp.secret);
  return "problem" in read
    ? { values, sites, note: `The one-time code secret of ${provider} is invalid: ${read.problem}.` }
    : { values, sites, totp: read };
}
