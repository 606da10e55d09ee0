import { forShell, type Programs, quoted } from "../../base/programs.ts";
import { type Request, requestOf, type Wanted } from "./wanted.ts";

/** The session of the card from a program. */
export function programsOf(wanted: Wanted): Programs {
  const request = requestOf(wanted);
  const lines = Object.entries(request).map(([field, value]) => `  ${field}: ${literal(value)},\n`);
  return {
    sdk: `const browser = await shoal.browsers.create({\n${lines.join("")}  timeout_seconds: 600,\n});
console.log(browser.browser_live_view_url);`,
    cli: ["browsers create", ...flagsOf(request), "--timeout 10m"].join(" "),
    curl: { method: "POST", path: "/browsers", body: { ...request, timeout_seconds: 600 } },
  };
}

function literal(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  if (typeof value !== "object" || value === null) return typeof value === "string" ? quoted(value) : String(value);
  return `{ ${Object.entries(value)
    .map(([field, inner]) => `${field}: ${literal(inner)}`)
    .join(", ")} }`;
}

function flagsOf({ conditions, location, name, start_url }: Request): string[] {
  const flags = {
    "--name": name,
    "--start-url": start_url,
    "--location-timezone": location?.timezone,
    "--location-locale": location?.locale,
    "--conditions": conditions && JSON.stringify(conditions),
  };
  return Object.entries(flags).flatMap(([flag, value]) => (value === undefined ? [] : [`${flag} ${forShell(value)}`]));
}
