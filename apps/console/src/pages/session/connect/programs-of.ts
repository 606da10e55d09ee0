import clients from "./clients.json" with { type: "json" };

export interface Program {
  readonly door: string;
  readonly name: string;
  readonly label: string;
  readonly code: string;
  /** What the person must know first. */
  readonly notes: readonly string[];
}

/**
 * How each tested client connects to a running session, with the key in SHOAL_API_KEY. `tools/clients.mjs` writes the list from
 * that of the tests.
 */
export function programsOf(sessionId: string, service: string): readonly Program[] {
  return clients.map(({ code, dialect, door, language, limits, name }) => ({
    door,
    name,
    label: language === "any" || name.includes(language) ? name : `${name} (${language})`,
    code: code
      .replaceAll("SOCKET_URL", service.replace(/^http/, "ws"))
      .replaceAll("SERVICE_URL", service)
      .replaceAll("SESSION_ID", sessionId),
    notes: [
      ...(dialect === undefined ? [] : [`The service needs --dialects ${dialect}: this protocol is off by default.`]),
      ...(limits === undefined ? [] : [limits]),
    ],
  }));
}
