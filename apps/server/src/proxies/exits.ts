import { ServiceError } from "@shoal/router";
import type { EgressUpstream } from "@shoal/placement";

/** Types of proxies that the operator provides; `custom` ones are their users' own. */
export const providedTypes = ["datacenter", "isp", "residential", "mobile"] as const;
export type ProvidedType = (typeof providedTypes)[number];

/** Address template of each type that the operator provides, see {@link fillTemplate}. */
export type ExitTemplates = Readonly<Partial<Record<ProvidedType, string>>>;

/** The templates that the settings name. */
export function exitTemplates(config: Readonly<Partial<Record<`proxy_${ProvidedType}`, string>>>): ExitTemplates {
  return Object.fromEntries(providedTypes.flatMap((type) => (config[`proxy_${type}`] === undefined ? [] : [[type, config[`proxy_${type}`]]])));
}

/** What a proxy's address is made of. */
export interface ExitSource {
  readonly type: string;
  readonly protocol: string;
  readonly bypassHosts: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly password: string | undefined;
  /** Certificates of its own authority, PEM. */
  readonly caBundle?: string | undefined;
}

const placeholders = ["country", "city", "state", "zip", "asn", "session_id"] as const;

/**
 * Fills a template: `{country}` and the like become values, percent-encoded; a part in square brackets is left away where one of its values is absent:
 * `http://user-country-{country}[-city-{city}]:secret@gate.example:7000`.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const fill = (text: string) => text.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values[name] ?? ""));
  const sections = template.replaceAll(/\[([^[\]]*\{\w+\}[^[\]]*)\]/g, (_match, section: string) => {
    const names = [...section.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    return names.every((name) => values[name] !== undefined && values[name] !== "") ? fill(section) : "";
  });
  return fill(sections);
}

/** Why a template cannot be used; `undefined` when it can. */
export function templateProblem(template: string): string | undefined {
  const unknown = [...template.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name).find((name) => !placeholders.some((known) => known === name));
  if (unknown !== undefined) return `must not hold {${unknown}}; there are ${placeholders.map((name) => `{${name}}`).join(", ")}`;
  const filled = URL.parse(fillTemplate(template, Object.fromEntries(placeholders.map((name) => [name, "x"]))));
  return filled !== null && /^(https?|socks5):$/.test(filled.protocol) && filled.hostname !== ""
    ? undefined
    : "must be an http://, https:// or socks5:// address with a host";
}

function isProvided(type: string): type is ProvidedType {
  return providedTypes.some((known) => known === type);
}

/** @throws {ServiceError} 400 `proxy_not_available` when the operator provides none of this type. */
export function requireType(type: string, templates: ExitTemplates): void {
  if (!isProvided(type) || templates[type] !== undefined) return;
  const present = providedTypes.filter((each) => templates[each] !== undefined);
  throw new ServiceError(
    400,
    "proxy_not_available",
    `This service provides no ${type} proxies${present.length > 0 ? `, but ${present.join(", ")}` : ""}. Use type custom with a proxy server of your own, or have the operator name a provider with the setting proxy_${type}.`,
  );
}

/**
 * The address of a proxy, for one session.
 *
 * @param sessionId - for providers that keep an exit as long as it stays the same.
 * @throws {ServiceError} 400 `proxy_not_available`.
 */
export function upstreamOf(
  { type, protocol, bypassHosts, config, password, caBundle }: ExitSource,
  templates: ExitTemplates,
  sessionId: string,
): EgressUpstream {
  requireType(type, templates);
  const text = (name: string) => {
    const value = config[name];
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  };
  const template = isProvided(type) ? templates[type] : undefined;
  if (template !== undefined) {
    const country = text("country") ?? (type === "datacenter" || type === "isp" ? "US" : undefined);
    return {
      bypassHosts,
      url: fillTemplate(template, { country, city: text("city"), state: text("state"), zip: text("zip"), asn: text("asn"), session_id: sessionId }),
    };
  }
  const username = text("username") ?? "";
  const credentials = username === "" && password === undefined ? "" : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? "")}@`;
  // Proxies of earlier versions may have an address with a zone (fe80::1%lo).
  const [host = ""] = (text("host") ?? "").split("%", 1);
  return {
    bypassHosts,
    ...(caBundle !== undefined && { authorities: caBundle }),
    url: `${protocol}://${credentials}${host.includes(":") ? `[${host}]` : host}:${text("port") ?? ""}`,
  };
}
