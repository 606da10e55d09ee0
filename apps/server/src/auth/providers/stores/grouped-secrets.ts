import type { ProviderItem, ProviderValues, ProviderVault } from "../interface/credential-provider.ts";
import { itemOf, urlsOf, valuesOf } from "./login-values.ts";

/** Names of fields at the end of a flat name: `SHOP_USERNAME`. Longer names come first. */
const fieldNames = [
  "EMAIL_ADDRESS",
  "USER_NAME",
  "USERNAME",
  "EMAIL",
  "LOGIN",
  "USER",
  "PASSWORD",
  "PASS",
  "TOTP_SECRET",
  "OTP_SECRET",
  "TOTP",
  "OTP",
  "URLS",
  "URL",
  "DOMAINS",
  "DOMAIN",
];

/** Fields by group: `SHOP_USERNAME` and `SHOP_PASSWORD` become `SHOP` with two fields. */
export function grouped(secrets: Readonly<Record<string, string>>): Map<string, Record<string, string>> {
  const groups = new Map<string, Record<string, string>>();
  for (const [name, value] of Object.entries(secrets)) {
    const field = fieldNames.find((end) => name.endsWith(`_${end}`) && name.length > end.length + 1);
    if (field === undefined) continue;
    const group = name.slice(0, -field.length - 1);
    groups.set(group, { ...groups.get(group), [field.toLowerCase()]: value });
  }
  return groups;
}

export function itemsOfGroups(
  groups: ReadonlyMap<string, Record<string, string>>,
  vault: ProviderVault,
): ProviderItem[] {
  return [...groups].map(([path, fields]) => itemOf(vault, { id: path, path, urls: urlsOf(fields) }));
}

/** @param path - `VAULT/GROUP`. */
export function valuesOfGroup(
  groups: ReadonlyMap<string, Record<string, string>>,
  vault: ProviderVault,
  path: string,
): ProviderValues | undefined {
  const prefix = `${vault.name}/`;
  const fields = path.startsWith(prefix) ? groups.get(path.slice(prefix.length)) : undefined;
  return fields && valuesOf(fields);
}
