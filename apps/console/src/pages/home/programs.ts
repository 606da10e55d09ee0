import { forShell, type Programs, quoted } from "../../base/programs.ts";

export interface Wanted {
  readonly start_url: string;
  readonly name: string;
}

/** The session of the card from a program. */
export function programsOf({ start_url, name }: Wanted): Programs {
  const fields = { ...(name !== "" && { name }), ...(start_url !== "" && { start_url }) };
  const lines = Object.entries(fields).map(([field, value]) => `  ${field}: ${quoted(value)},\n`);
  const flags = Object.entries(fields).map(([field, value]) => `--${field.replaceAll("_", "-")} ${forShell(value)}`);
  return {
    sdk: `const browser = await shoal.browsers.create({\n${lines.join("")}  timeout_seconds: 600,\n});
console.log(browser.browser_live_view_url);`,
    cli: ["browsers create", ...flags, "--timeout 10m"].join(" "),
    curl: { method: "POST", path: "/browsers", body: { ...fields, timeout_seconds: 600 } },
  };
}
