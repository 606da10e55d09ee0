import { serviceUrl } from "../../base/place.ts";

export interface Wanted {
  readonly start_url: string;
  readonly name: string;
}

const quoted = (text: string) => JSON.stringify(text);
const forShell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

function fieldsOf({ start_url, name }: Wanted): Readonly<Record<string, string>> {
  return { ...(name !== "" && { name }), ...(start_url !== "" && { start_url }) };
}

export function sdkProgram(wanted: Wanted): string {
  const fields = Object.entries(fieldsOf(wanted)).map(([name, value]) => `  ${name}: ${quoted(value)},\n`);
  const body = `{\n${fields.join("")}  timeout_seconds: 600,\n}`;
  return `import { Shoal } from "@shoal/client";

// Reads SHOAL_API_KEY from the environment.
const shoal = new Shoal({ baseUrl: ${quoted(serviceUrl)} });
const browser = await shoal.browsers.create(${body});
console.log(browser.browser_live_view_url);`;
}

export function cliProgram(wanted: Wanted): string {
  const flags = Object.entries(fieldsOf(wanted)).map(
    ([name, value]) => `--${name.replaceAll("_", "-")} ${forShell(value)}`,
  );
  return `# Reads SHOAL_API_KEY from the environment.
export SHOAL_BASE_URL=${forShell(serviceUrl)}
shoal browsers create ${[...flags, "--timeout 10m"].join(" ")}`;
}

export function curlProgram(wanted: Wanted): string {
  const body = JSON.stringify({ ...fieldsOf(wanted), timeout_seconds: 600 });
  return `curl ${forShell(`${serviceUrl}/browsers`)} \\
  -H "Authorization: Bearer $SHOAL_API_KEY" \\
  -H 'Content-Type: application/json' \\
  -d ${forShell(body)}`;
}
