import { pathSegments } from "@shoal/primitives";
import type { ProviderItem, ProviderValues, ProviderVault } from "../interface/credential-provider.ts";
import { ProviderFailure } from "../interface/provider-failure.ts";
import type * as z from "zod/mini";

const maxFields = 50;
const maxValueLength = 16_384;

/** Names in stores without fixed fields, by the name that the service uses. */
const synonyms: Readonly<Record<string, string>> = {
  user: "username",
  user_name: "username",
  login: "username",
  email_address: "email",
  mail: "email",
  pass: "password",
  pwd: "password",
};
const totpNames: ReadonlySet<string> = new Set(["totp", "totp_secret", "otp", "otp_secret", "otpauth", "mfa_secret"]);
const urlNames: ReadonlySet<string> = new Set(["url", "urls", "website", "websites", "domain", "domains", "site"]);

const canonical = (name: string) =>
  name
    .trim()
    .toLowerCase()
    .replaceAll(/[\s-]+/g, "_");

const isText = (value: unknown): value is string | number => typeof value === "string" || typeof value === "number";

/** Turns free fields into values and sites. Ignores other nested fields. */
export function valuesOf(fields: Readonly<Record<string, unknown>>): ProviderValues {
  const values: Record<string, string> = {};
  let secret: string | undefined;
  for (const [name, value] of Object.entries(fields).slice(0, maxFields)) {
    const key = canonical(name);
    if (!isText(value) || value === "" || String(value).length > maxValueLength || urlNames.has(key)) continue;
    if (totpNames.has(key)) secret ??= String(value);
    else if (Object.hasOwn(synonyms, key)) values[synonyms[key] ?? key] ??= String(value);
    else values[key] = String(value);
  }
  const urls = urlsOf(fields);
  return { values, ...(secret !== undefined && { totp: { secret } }), ...(urls.length > 0 && { urls }) };
}

/** The sites in fields such as `url` or `domains`: a list, or text with spaces or commas. */
export function urlsOf(fields: Readonly<Record<string, unknown>>): string[] {
  return Object.entries(fields)
    .filter(([name]) => urlNames.has(canonical(name)))
    .flatMap(([, value]) => (Array.isArray(value) ? (value as unknown[]) : [value]))
    .filter((value) => typeof value === "string")
    .flatMap((value) => value.split(/[\s,]+/))
    .filter((url) => url !== "")
    .slice(0, 20);
}

/** A title such as `shop.example.com` names the site of an item without URLs. */
export function siteOfTitle(title: string): string[] {
  return /^(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z]{2,63}$/i.test(title) ? [title] : [];
}

/** Text of a secret: a JSON object, or a password alone. */
export function fieldsOfText(text: string): Readonly<Record<string, unknown>> {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed === "object" && parsed !== null && !Array.isArray(parsed))
      return parsed as Readonly<Record<string, unknown>>;
  } catch {
    // Not JSON: the text is the password.
  }
  return { password: text };
}

/** @param parts - `path` is below the vault's name. */
export function itemOf(
  vault: ProviderVault,
  parts: { readonly id: string; readonly path: string; readonly urls: readonly string[] },
): ProviderItem {
  const title = parts.path.slice(parts.path.lastIndexOf("/") + 1);
  return {
    id: parts.id,
    title,
    path: `${vault.name}/${parts.path}`,
    vault,
    urls: parts.urls.length > 0 ? parts.urls : siteOfTitle(title),
  };
}

/** Splits `VAULT/ITEM`; `undefined` without a slash. */
export function splitPath(path: string): { readonly vault: string; readonly item: string } | undefined {
  const at = path.indexOf("/");
  return at <= 0 || at === path.length - 1 ? undefined : { vault: path.slice(0, at), item: path.slice(at + 1) };
}

/** Checks an answer. @throws {ProviderFailure} without its content. */
export function understood<Shape>(schema: z.ZodMiniType<Shape>, answer: unknown, store: string): Shape {
  const result = schema.safeParse(answer);
  if (result.success) return result.data;
  const at = result.error.issues[0]?.path.join(".") ?? "";
  throw new ProviderFailure(
    `${store} sent an unexpected answer${at === "" ? "" : ` (at ${at})`}; check the address of the provider.`,
  );
}

/** Joins an address and encoded path segments. */
export function addressOf(base: string, ...segments: readonly string[]): URL {
  const path = pathSegments(
    segments
      .flatMap((segment) => segment.split("/"))
      .filter((part) => part !== "")
      .join("/"),
  );
  if (path === undefined)
    throw new ProviderFailure(
      "The path must not contain . or .. between slashes, nor backslashes or control characters.",
    );
  return new URL(`${base.replace(/(?<!\/)\/+$/, "")}/${path}`);
}
