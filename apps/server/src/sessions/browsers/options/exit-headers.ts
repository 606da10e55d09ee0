import { credentialNotFound, credentialWithoutValue, invalid, needsOwnBrowser } from "@shoal/contract/refusals";
import { isAmongOrigins } from "@shoal/instance";
import type { AddedHeader, ExitHeaders, HeaderSource, PlacementAbilities } from "@shoal/placement";
import { CertificateAuthority } from "@shoal/primitives/certificates";
import {
  type HeaderHost,
  headerHostOf,
  headerHostText,
  isWithinHost,
  overlappingHost,
  readHeaderHost,
} from "@shoal/primitives/hosts";
import { badInput, ServiceError } from "@shoal/router";
import type { BrowserHeader, BrowserHttpAuth } from "@shoal/schemas";
import { nameProblem, valueProblem } from "./header-syntax.ts";

/** A credential, and the origins to which its values may go. */
export interface OpenedForHosts {
  readonly id: string;
  readonly origins: readonly string[];
  readonly values: Readonly<Record<string, string>>;
}

/** @throws {ServiceError} 404 for an unknown credential. */
export type OpenForHosts = (projectId: string, idOrName: string) => Promise<OpenedForHosts>;

/** Headers of a session with stored values, as requested or stored; never with the values. */
export interface HeaderSettings {
  readonly headers?: BrowserHeader[] | null | undefined;
  readonly http_auth?: BrowserHttpAuth[] | null | undefined;
}

export interface HeaderParts {
  readonly open: OpenForHosts;
  readonly abilities: Pick<PlacementAbilities, "authorities">;
}

/** Time for which an opened value is used without looking whether it has changed. Milliseconds. */
const freshMs = 10_000;

interface Entry {
  /** Of the request: `body.network.headers[0]`. */
  readonly field: string;
  readonly name: string;
  readonly hosts: readonly HeaderHost[];
  readonly credential: string;
  readonly isHttpAuth: boolean;
  /** The names of its values, with their fields in the request. */
  readonly uses: readonly (readonly [name: string, field: string])[];
  readonly valueFrom: (values: readonly string[]) => string;
}

interface OpenedEntry extends Entry {
  /** Instead of a name, which may pass to another credential. */
  readonly id: string;
  readonly origins: readonly string[];
}

export function hasHeaders({ headers, http_auth: auth }: HeaderSettings = {}): boolean {
  return (headers?.length ?? 0) > 0 || (auth?.length ?? 0) > 0;
}

/** @throws {ServiceError} 403 for a caller without the right to stored values. */
export function refuseHeaders(network: HeaderSettings | undefined): void {
  if (!hasHeaders(network)) return;
  const field = (network?.headers?.length ?? 0) > 0 ? "headers" : "http_auth";
  throw new ServiceError(403, "forbidden", "needs the right to stored values", {
    field: `body.network.${field}`,
    hint: "Use the key of an administrator, or a key with operation:credentials.use",
  });
}

/**
 * Checks the settings with the credentials that they name.
 * @returns them with canonical hosts and ids of credentials, and the source of the headers.
 * @throws {ServiceError} 400, 403 for a host that is not a site of the credential, 404.
 */
export async function openHeaders<Network extends HeaderSettings>(
  projectId: string,
  { isolation, network }: { readonly network: Network; readonly isolation?: string | undefined },
  { abilities, open }: HeaderParts,
): Promise<{ readonly network: Network; readonly source: HeaderSource | undefined }> {
  if (!hasHeaders(network)) return { network, source: undefined };
  const entries = entriesOf(network);
  refuseUnable(entries[0]?.isHttpAuth === true ? "http_auth" : "headers", isolation, abilities);
  refuseTwice(entries);
  const opened = await Promise.all(entries.map((entry) => openEntry(projectId, entry, open)));
  return { network: canonical(network, opened), source: sourceOf(projectId, opened, open) };
}

/** With a new authority, which exists only until the end of the session. */
export function exitHeadersFrom(
  source: HeaderSource | undefined,
  { player, recorder }: Pick<ExitHeaders, "player" | "recorder"> = {},
): ExitHeaders | undefined {
  if ((source ?? player ?? recorder) === undefined) return undefined;
  return { source: source ?? noHeaders, player, recorder, authority: new CertificateAuthority("Shoal session") };
}

const noHeaders: HeaderSource = { covers: () => false, headers: async () => [] };

function entriesOf({ headers, http_auth: auth }: HeaderSettings): readonly Entry[] {
  return [
    ...(headers ?? []).map(({ hosts, name, prefix = "", secret }, index): Entry => {
      const field = `body.network.headers[${String(index)}]`;
      const problem = nameProblem(name);
      if (problem !== undefined) throw ServiceError.of(invalid(`${field}.name`, problem));
      return {
        ...{ field, name, isHttpAuth: false, credential: secret.credential, hosts: hostsOf(hosts, field) },
        uses: [[secret.field, `${field}.secret.field`]],
        valueFrom: ([value = ""]) => `${prefix}${value}`,
      };
    }),
    ...(auth ?? []).map(({ credential, hosts, password_field, username_field }, index): Entry => {
      const field = `body.network.http_auth[${String(index)}]`;
      return {
        ...{ field, name: "Authorization", isHttpAuth: true, credential, hosts: hostsOf(hosts, field) },
        uses: [
          [username_field ?? "username", `${field}.username_field`],
          [password_field ?? "password", `${field}.password_field`],
        ],
        valueFrom: ([user = "", password = ""]) => `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`,
      };
    }),
  ];
}

function hostsOf(hosts: readonly string[], field: string): readonly HeaderHost[] {
  return hosts.map((text, index) => {
    const host = readHeaderHost(text);
    if (host !== undefined) return host;
    throw ServiceError.of(
      invalid(`${field}.hosts[${String(index)}]`, `${JSON.stringify(text)} is not a host`, {
        hint: "Write a name (example.com), all names below one (*.example.com) or an address, with a port if wanted.",
      }),
    );
  });
}

/** @throws {ServiceError} 400 */
function refuseUnable(field: string, isolation: string | undefined, { authorities }: HeaderParts["abilities"]): void {
  if (isolation === "context")
    throw ServiceError.of(needsOwnBrowser(`network.${field}`, "the headers belong to the whole browser"));
  if (!authorities)
    throw badInput(
      `body.network.${field}`,
      "browsers of this server cannot trust the session's own certificates: that needs Linux and the program certutil",
      {
        hint: "Install it on the server (Debian: apt-get install libnss3-tools; Fedora: nss-tools) and start the service again",
      },
    );
}

/** @throws {ServiceError} 400 for two values of one header. */
function refuseTwice(entries: readonly Entry[]): void {
  for (const [index, entry] of entries.entries()) {
    const other = entries
      .slice(0, index)
      .find(
        ({ hosts, name }) =>
          name.toLowerCase() === entry.name.toLowerCase() &&
          hosts.some((one) => entry.hosts.some((two) => overlappingHost(one, two))),
      );
    if (other !== undefined)
      throw ServiceError.of(
        invalid(`${entry.field}.hosts`, `${other.field} adds ${entry.name} to requests to some of these hosts too`),
      );
  }
}

async function openEntry(projectId: string, entry: Entry, open: OpenForHosts): Promise<OpenedEntry> {
  const { credential, field, hosts } = entry;
  const credentialField = `${field}.${entry.isHttpAuth ? "credential" : "secret.credential"}`;
  const { id, origins, values } = await open(projectId, credential).catch((error: unknown) => {
    if (!ServiceError.isInstance(error) || error.status !== 404) throw error;
    throw ServiceError.of({ ...credentialNotFound(credential), field: credentialField });
  });
  const outside = hosts.findIndex((host) => !origins.some((origin) => isWithinOrigin(host, origin)));
  if (outside !== -1)
    throw new ServiceError(403, "forbidden", `not a site of the credential ${credential}`, {
      field: `${field}.hosts[${String(outside)}]`,
      hint: "An administrator can add sites to the credential with credentials.update",
    });
  readValue(entry, values, (name, at) => ServiceError.of({ ...credentialWithoutValue(credential, name), field: at }));
  return { ...entry, id, origins };
}

/** @param missing - the error for a value that the credential does not have. */
function readValue(
  { field, isHttpAuth, uses, valueFrom }: Entry,
  values: OpenedForHosts["values"],
  missing: (name: string, field: string) => Error,
): string {
  const found = uses.map(([name, at]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === "") throw missing(name, at);
    return value;
  });
  const [first = ["", field] as const] = uses;
  if (isHttpAuth && found[0]?.includes(":") === true)
    throw ServiceError.of(invalid(first[1], "the user name contains a colon, which HTTP authentication cannot send"));
  const value = valueFrom(found);
  const problem = valueProblem(value);
  if (problem !== undefined) throw ServiceError.of(invalid(first[1], `the stored value ${problem}`));
  return value;
}

/** @param origin - `https://*.example.com:8443`; without a port, every port. A host without one has those of the origin. */
function isWithinOrigin(host: HeaderHost, origin: string): boolean {
  const outer = readHeaderHost(origin.replace(/^https?:\/\//, ""));
  return outer !== undefined && isWithinHost({ ...outer, ...host }, outer);
}

function canonical<Network extends HeaderSettings>(network: Network, opened: readonly OpenedEntry[]): Network {
  const [headers, auth] = [opened.filter(({ isHttpAuth }) => !isHttpAuth), opened.filter((each) => each.isHttpAuth)];
  return {
    ...network,
    ...(network.headers && {
      headers: network.headers.map((entry, index) => ({
        ...entry,
        hosts: headers[index]?.hosts.map(headerHostText) ?? [],
        secret: { ...entry.secret, credential: headers[index]?.id ?? "" },
      })),
    }),
    ...(network.http_auth && {
      http_auth: network.http_auth.map((entry, index) => ({
        ...entry,
        hosts: auth[index]?.hosts.map(headerHostText) ?? [],
        credential: auth[index]?.id ?? "",
      })),
    }),
  };
}

/** Opens credentials again after {@link freshMs}, so that changes and deletions take effect in running sessions. */
function sourceOf(projectId: string, entries: readonly OpenedEntry[], open: OpenForHosts): HeaderSource {
  const kept = new Map<string, { readonly untilMs: number; readonly opening: Promise<OpenedForHosts> }>();
  const fresh = (id: string): Promise<OpenedForHosts> => {
    const now = performance.now();
    const known = kept.get(id);
    if (known !== undefined && known.untilMs > now) return known.opening;
    const opening = open(projectId, id);
    kept.set(id, { untilMs: now + freshMs, opening });
    // A failure is not kept.
    opening.catch(() => kept.delete(id));
    return opening;
  };
  const entriesFor = (origin: string): readonly OpenedEntry[] => {
    const host = headerHostOf(origin);
    if (host === undefined) return [];
    return entries.filter(
      ({ hosts, origins }) => hosts.some((outer) => isWithinHost(host, outer)) && isAmongOrigins(origin, origins),
    );
  };
  return {
    covers: (origin) => entriesFor(origin).length > 0,
    headers: (origin) =>
      Promise.all(
        entriesFor(origin).map(async (entry): Promise<AddedHeader> => {
          const { origins, values } = await fresh(entry.id).catch(() => {
            throw unavailable(entry, "could not be opened");
          });
          if (!isAmongOrigins(origin, origins)) throw unavailable(entry, "does not name this site any more");
          return [entry.name, readValue(entry, values, (name) => unavailable(entry, `has no value ${name} any more`))];
        }),
      ),
  };
}

function unavailable({ id, name }: OpenedEntry, reason: string): Error {
  return new Error(`The session adds the header ${name} to requests to this host, and its credential ${id} ${reason}.`);
}
