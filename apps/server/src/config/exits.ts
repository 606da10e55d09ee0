import { ServiceError } from "@shoal/router";
import type { EgressUpstream } from "@shoal/placement";

/** Proxies of the operator; users bring `custom` ones. */
export const providedTypes = ["datacenter", "isp", "residential", "mobile"] as const;
export type ProvidedType = (typeof providedTypes)[number];

export type ExitTemplates = Readonly<Partial<Record<ProvidedType, string>>>;

export function exitTemplates(config: Readonly<Partial<Record<`proxy_${ProvidedType}`, string>>>): ExitTemplates {
  return Object.fromEntries(
    providedTypes.flatMap((type) => (config[`proxy_${type}`] === undefined ? [] : [[type, config[`proxy_${type}`]]])),
  );
}

export interface ExitSource {
  readonly type: string;
  readonly protocol: string;
  readonly bypassHosts: readonly string[];
  readonly config: Readonly<Record<string, unknown>>;
  readonly password: string | undefined;
  readonly caBundle?: string | undefined;
}

const placeholders = ["country", "city", "state", "zip", "asn", "session_id"] as const;

/**
 * Percent-encodes values of placeholders such as `{country}`, and omits a part in square brackets if one is missing:
 * `http://user-country-{country}[-city-{city}]:secret@gate.example:7000`.
 */
export function fillTemplate(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const fill = (text: string) =>
    text.replaceAll(/\{(\w+)\}/g, (_match, name: string) => encodeURIComponent(values[name] ?? ""));
  const sections = template.replaceAll(/\[([^[\]]*\{\w+\}[^[\]]*)\]/g, (_match, section: string) => {
    const names = [...section.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => name);
    return names.every((name) => values[name] !== undefined && values[name] !== "") ? fill(section) : "";
  });
  return fill(sections);
}

export function templateProblem(template: string): string | undefined {
  const unknown = [...template.matchAll(/\{(\w+)\}/g)]
    .map(([, name = ""]) => name)
    .find((name) => !placeholders.some((known) => known === name));
  if (unknown !== undefined)
    return `must not hold {${unknown}}; there are ${placeholders.map((name) => `{${name}}`).join(", ")}`;
  const filled = URL.parse(fillTemplate(template, Object.fromEntries(placeholders.map((name) => [name, "x"]))));
  return filled !== null && /^(https?|socks5):$/.test(filled.protocol) && filled.hostname !== ""
    ? undefined
    : "must be an http://, https:// or socks5:// address with a host";
}

function isProvided(type: string): type is ProvidedType {
  return providedTypes.some((known) => known === type);
}

export function requireType(type: string, templates: ExitTemplates): void {
  if (!isProvided(type) || templates[type] !== undefined) return;
  const present = providedTypes.filter((each) => templates[each] !== undefined);
  throw new ServiceError(
    400,
    "proxy_not_available",
    `This service provides no ${type} proxies${present.length > 0 ? `, but ${present.join(", ")}` : ""}.`,
    {
      hint: `Use type custom with your own proxy server, or ask the operator to configure a provider with the setting proxy_${type}.`,
    },
  );
}

/**
 * @param sessionId - providers keep the exit address while it stays the same. @throws {ServiceError} 400
 * `proxy_not_available`.
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
      url: fillTemplate(template, {
        country,
        city: text("city"),
        state: text("state"),
        zip: text("zip"),
        asn: text("asn"),
        session_id: sessionId,
      }),
    };
  }
  const username = text("username") ?? "";
  const credentials =
    username === "" && password === undefined
      ? ""
      : `${encodeURIComponent(username)}:${encodeURIComponent(password ?? "")}@`;
  const host = text("host") ?? "";
  return {
    bypassHosts,
    ...(caBundle !== undefined && { authorities: caBundle }),
    url: `${protocol}://${credentials}${host.includes(":") ? `[${host}]` : host}:${text("port") ?? ""}`,
  };
}
