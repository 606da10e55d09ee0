import pLimit from "p-limit";
import * as z from "zod/mini";
import {
  type CredentialProvider,
  type CredentialProviderKind,
  type ItemReference,
  maxItems,
  type ProviderAnswer,
  type ProviderItem,
  type ProviderOptions,
  type ProviderRequest,
  type ProviderSetting,
  type ProviderValues,
  type ProviderVault,
} from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import { addressOf, itemOf, siteOfTitle, understood, urlsOf, valuesOf } from "./login-values.ts";

const maxDepth = 5;
const maxFolders = 200;
/** Metadata is read for items whose name is not a site. */
const maxMetadataReads = 200;

const Auth = z.object({
  auth: z.object({ client_token: z.string(), lease_duration: z.number(), renewable: z.optional(z.boolean()) }),
});
const Lookup = z.object({ data: z.object({ ttl: z.number(), renewable: z.optional(z.nullable(z.boolean())) }) });
const Keys = z.object({ data: z.object({ keys: z.array(z.string()) }) });
const Secret = z.object({ data: z.nullable(z.record(z.string(), z.unknown())) });
const Metadata = z.object({
  data: z.object({ custom_metadata: z.optional(z.nullable(z.record(z.string(), z.unknown()))) }),
});
const Mounts = z.object({
  data: z.object({
    secret: z.optional(z.record(z.string(), z.object({ type: z.string(), options: z.optional(z.unknown()) }))),
  }),
});

interface Session {
  readonly token: string;
  /** `Infinity` = it does not expire. */
  readonly expiresAtMs: number;
  readonly renewAtMs: number;
  readonly isRenewable: boolean;
}

function sessionOf(token: string, seconds: number, isRenewable: boolean): Session {
  const ms = seconds > 0 ? seconds * 1000 : Infinity;
  return { token, isRenewable, expiresAtMs: Date.now() + ms, renewAtMs: Date.now() + (ms * 2) / 3 };
}

class VaultProvider implements CredentialProvider {
  readonly #options: ProviderOptions;
  readonly #title: string;
  readonly #mount: string;
  readonly #isVersion2: boolean;
  readonly #limit = pLimit(4);
  readonly #oneAtATime = pLimit(1);
  #session: Session | undefined;

  constructor(options: ProviderOptions, title: string) {
    this.#options = options;
    this.#title = title;
    this.#mount = (options.settings.mount ?? "secret").replaceAll(/^\/+|(?<!\/)\/+$/g, "");
    this.#isVersion2 = options.settings.kv_version !== "1";
  }

  async test(signal: AbortSignal): Promise<readonly ProviderVault[]> {
    await this.#send({ url: this.#url("auth/token/lookup-self"), signal });
    const { json, status } = await this.#send({
      url: this.#url("sys/internal/ui/mounts"),
      signal,
      accepts: [403, 404],
    });
    const mounts = status === 200 ? (understood(Mounts, json, this.#title).data.secret ?? {}) : {};
    const names = Object.entries(mounts)
      .filter(([, { type }]) => type === "kv" || type === "generic")
      .map(([name]) => name.replace(/\/$/, ""));
    return (names.length > 0 ? names : [this.#mount]).map((name) => ({ id: name, name }));
  }

  async items(signal: AbortSignal): Promise<readonly ProviderItem[]> {
    const paths = await this.#paths(signal);
    let reads = 0;
    return Promise.all(
      paths.map(async (path) => {
        const isNamed = siteOfTitle(path.slice(path.lastIndexOf("/") + 1)).length > 0;
        const reading = !isNamed && this.#isVersion2 && (reads += 1) <= maxMetadataReads;
        const urls = reading ? await this.#limit(() => this.#urlsOf(path, signal)) : [];
        return itemOf(this.#vault, { id: path, path, urls });
      }),
    );
  }

  async read({ path }: ItemReference, signal: AbortSignal): Promise<ProviderValues | undefined> {
    const prefix = `${this.#mount}/`;
    if (!path.startsWith(prefix))
      throw new ProviderFailure(`The path must begin with ${JSON.stringify(prefix)}, the mount of the provider.`);
    const own = path.slice(prefix.length);
    const url = this.#isVersion2 ? this.#url(this.#mount, "data", own) : this.#url(this.#mount, own);
    const { json, status } = await this.#send({ url, signal, accepts: [404] });
    if (status === 404) return undefined;
    const { data } = understood(Secret, json, this.#title);
    const fields = this.#isVersion2 ? data?.data : data;
    return typeof fields === "object" && fields !== null ? valuesOf(fields as Record<string, unknown>) : undefined;
  }

  get #vault(): ProviderVault {
    return { id: this.#mount, name: this.#mount };
  }

  async #paths(signal: AbortSignal): Promise<string[]> {
    const found: string[] = [];
    let folders = [(this.#options.settings.path ?? "").replaceAll(/^\/+|(?<!\/)\/+$/g, "")];
    let left = maxFolders;
    for (let depth = 0; depth < maxDepth && folders.length > 0 && left > 0 && found.length < maxItems; depth += 1) {
      const now = folders.slice(0, left);
      left -= now.length;
      const lists = await Promise.all(now.map((folder) => this.#limit(() => this.#list(folder, signal))));
      folders = lists.flat().flatMap((path) => (path.endsWith("/") ? [path.slice(0, -1)] : []));
      found.push(...lists.flat().filter((path) => !path.endsWith("/")));
    }
    return found.slice(0, maxItems);
  }

  async #list(folder: string, signal: AbortSignal): Promise<string[]> {
    const url = this.#isVersion2 ? this.#url(this.#mount, "metadata", folder) : this.#url(this.#mount, folder);
    url.searchParams.set("list", "true");
    const { json, status } = await this.#send({ url, signal, accepts: [404] });
    if (status === 404) return [];
    return understood(Keys, json, this.#title).data.keys.map((key) => (folder === "" ? key : `${folder}/${key}`));
  }

  /** The policy of a token may forbid metadata. */
  async #urlsOf(path: string, signal: AbortSignal): Promise<string[]> {
    const url = this.#url(this.#mount, "metadata", path);
    const { json, status } = await this.#send({ url, signal, accepts: [403, 404] });
    return status === 200 ? urlsOf(understood(Metadata, json, this.#title).data.custom_metadata ?? {}) : [];
  }

  #url(...segments: readonly string[]): URL {
    return addressOf(this.#options.settings.address ?? "", "v1", ...segments);
  }

  /** Signs in again once after a 403: the token may have been revoked. */
  async #send(request: ProviderRequest): Promise<ProviderAnswer> {
    const session = await this.#signedIn(request.signal);
    if (this.#options.settings.role_id === undefined) return this.#sendWith(session.token, request);
    const { accepts = [] } = request;
    const answer = await this.#sendWith(session.token, { ...request, accepts: [...accepts, 403] });
    if (answer.status !== 403) return answer;
    if (this.#session === session) this.#session = undefined;
    return this.#sendWith((await this.#signedIn(request.signal)).token, request);
  }

  #sendWith(token: string | undefined, request: ProviderRequest): Promise<ProviderAnswer> {
    const { namespace } = this.#options.settings;
    return this.#options.http.send({
      ...request,
      headers: {
        "x-vault-request": "true",
        ...(token !== undefined && { "x-vault-token": token }),
        ...(namespace !== undefined && { "x-vault-namespace": namespace }),
        ...request.headers,
      },
    });
  }

  #signedIn(signal: AbortSignal): Promise<Session> {
    return this.#oneAtATime(async () => {
      const known = this.#session;
      if (known !== undefined && known.renewAtMs > Date.now()) return known;
      this.#session = known === undefined ? await this.#begin(signal) : await this.#renewed(known, signal);
      return this.#session;
    });
  }

  async #begin(signal: AbortSignal): Promise<Session> {
    const { settings, token } = this.#options;
    if (settings.role_id === undefined) {
      const { json, status } = await this.#sendWith(token, {
        url: this.#url("auth/token/lookup-self"),
        signal,
        // A policy may forbid it; the token may be valid nevertheless.
        accepts: [403],
      });
      if (status === 403) return sessionOf(token, 0, false);
      const { data } = understood(Lookup, json, this.#title);
      return sessionOf(token, data.ttl, data.renewable === true);
    }
    const { json } = await this.#sendWith(undefined, {
      url: this.#url("auth", settings.auth_mount ?? "approle", "login"),
      method: "POST",
      body: { role_id: settings.role_id, secret_id: token },
      signal,
    });
    const { auth } = understood(Auth, json, this.#title);
    return sessionOf(auth.client_token, auth.lease_duration, auth.renewable === true);
  }

  async #renewed(session: Session, signal: AbortSignal): Promise<Session> {
    const isAppRole = this.#options.settings.role_id !== undefined;
    if (!session.isRenewable) {
      if (isAppRole) return this.#begin(signal);
      return { ...session, renewAtMs: Infinity };
    }
    const { json, status } = await this.#sendWith(session.token, {
      url: this.#url("auth/token/renew-self"),
      method: "POST",
      body: {},
      signal,
      accepts: [400, 403],
    });
    if (status === 200) {
      const { auth } = understood(Auth, json, this.#title);
      const next = sessionOf(session.token, auth.lease_duration, auth.renewable === true);
      // A token near its maximum lifetime is hardly extended.
      if (next.expiresAtMs > session.expiresAtMs || !isAppRole) return next;
    }
    return isAppRole ? this.#begin(signal) : { ...session, renewAtMs: Infinity };
  }
}

const settings: Readonly<Record<string, ProviderSetting>> = {
  address: { description: "the address of the server, https://vault.example:8200", isRequired: true, isAddress: true },
  namespace: { description: "the namespace, such as team-a" },
  mount: { description: "the mount of the KV engine", fallback: "secret" },
  kv_version: { description: "the version of the KV engine, 1 or 2", fallback: "2" },
  path: { description: "the folder below the mount that contains the items" },
  role_id: { description: "the role id of AppRole; the token is then the secret id" },
  auth_mount: { description: "the mount of AppRole", fallback: "approle" },
};

const kindOf = (kind: string, title: string): CredentialProviderKind => ({
  kind,
  title,
  settings,
  check: (_token, { kv_version }) =>
    kv_version === "1" || kv_version === "2" ? undefined : { field: "settings.kv_version", problem: "expected 1 or 2" },
  open: (options) => new VaultProvider(options, title),
});

export const vault = kindOf("vault", "HashiCorp Vault");
export const openbao = kindOf("openbao", "OpenBao");
