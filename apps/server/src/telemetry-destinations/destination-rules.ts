import type { OutboundRule } from "@shoal/placement";
import { badField } from "../bad-field.ts";

/** Names and values together; each character is a byte on the wire. */
const maxHeaderBytes = 8192;
/** What the exporter itself says of a message, and what is between two hosts alone. */
const ownHeaders: ReadonlySet<string> = new Set([
  "connection",
  "content-encoding",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
]);

/** Names, as they were written, with their values. */
export type Headers = Readonly<Record<string, string>>;

/** Address of a collector's logs. @param endpoint - one that was checked. */
export function logsUrl(endpoint: string): URL {
  return new URL(`${endpoint.replace(/\/+$/, "")}/v1/logs`);
}

/** Port of an address, also where it says none. */
export function portOf({ port, protocol }: URL): number {
  return port === "" ? (protocol === "https:" ? 443 : 80) : Number(port);
}

/** @throws {ServiceError} 400 for what the contract's check cannot see: credentials, and private addresses that the operator does not allow. */
export async function checkEndpoint(endpoint: string, rule: OutboundRule): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || url.hostname === "" || !/^https?:$/.test(url.protocol)) throw badField("endpoint", "is no http or https address");
  if (url.username !== "" || url.password !== "")
    throw badField("endpoint", "must not hold a user name or password. Send them in headers, whose values are kept encrypted");
  const problem = await rule.literalProblem(url.hostname, portOf(url));
  if (problem !== undefined)
    throw badField("endpoint", `expected a public address: ${problem}. Whoever runs the service can allow private ones with allow_private_hosts`);
}

/**
 * The headers after a change.
 *
 * @param changes - `null` takes a header away; names are compared without case.
 * @throws {ServiceError} 400 when there would be too much, or what the service sets itself.
 */
export function changedHeaders(before: Headers, changes: Readonly<Record<string, string | null>>): Headers {
  const headers = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  for (const [name, value] of Object.entries(changes)) {
    const key = name.toLowerCase();
    if (ownHeaders.has(key)) throw badField("headers", `${name} is set by the service itself. Leave it away`);
    if (value === null) headers.delete(key);
    else headers.set(key, { name, value });
  }
  const kept = [...headers.values()];
  const bytes = kept.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (bytes > maxHeaderBytes)
    throw badField(
      "headers",
      `names and values together would be ${String(bytes)} bytes, and at most ${String(maxHeaderBytes)} are possible. Take headers away with null`,
    );
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}
