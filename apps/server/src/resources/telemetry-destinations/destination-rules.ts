import type { OutboundRule } from "@shoal/placement";
import { badField } from "../../http/bad-field.ts";

/** Names and values together. */
const maxHeaderBytes = 8192;
/** The exporter sets these; the others are hop-by-hop headers. */
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

/** Names keep their case. */
export type Headers = Readonly<Record<string, string>>;

/** @param endpoint - a checked endpoint. */
export function logsUrl(endpoint: string): URL {
  return new URL(`${endpoint.replace(/(?<!\/)\/+$/, "")}/v1/logs`);
}

/** @throws {ServiceError} 400 for credentials, and for private addresses that the operator does not allow. */
export async function checkEndpoint(endpoint: string, rule: OutboundRule): Promise<void> {
  const url = URL.parse(endpoint);
  if (url === null || url.hostname === "" || !/^https?:$/.test(url.protocol))
    throw badField("endpoint", "is not an http or https URL");
  if (url.username !== "" || url.password !== "")
    throw badField("endpoint", "must not contain a user name or password", {
      hint: "Send them in headers, whose values are stored encrypted.",
    });
  const decision = await rule.decideLiteral(url);
  if (!decision.allowed)
    throw badField("endpoint", `expected a public address: ${decision.because}`, {
      hint: "The operator can allow private addresses with allow_private_hosts.",
    });
}

/**
 * @param changes - `null` removes a header; names are case-insensitive.
 * @throws {ServiceError} 400 above the size limit, and for headers that the service sets.
 */
export function changedHeaders(before: Headers, changes: Readonly<Record<string, string | null>>): Headers {
  const headers = new Map(Object.entries(before).map(([name, value]) => [name.toLowerCase(), { name, value }]));
  for (const [name, value] of Object.entries(changes)) {
    const key = name.toLowerCase();
    if (ownHeaders.has(key)) throw badField("headers", `${name} is set by the service`, { hint: "Omit it." });
    if (value === null) headers.delete(key);
    else headers.set(key, { name, value });
  }
  const kept = [...headers.values()];
  const bytes = kept.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (bytes > maxHeaderBytes)
    throw badField(
      "headers",
      `names and values together would be ${String(bytes)} bytes; the limit is ${String(maxHeaderBytes)}`,
      { limit: maxHeaderBytes, hint: "Remove headers with null." },
    );
  return Object.fromEntries(kept.map(({ name, value }) => [name, value]));
}
