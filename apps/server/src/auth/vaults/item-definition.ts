import { invalid, type Refusal } from "@shoal/contract/refusals";
import { siteDomain } from "@shoal/primitives";
import { readTotp } from "@shoal/primitives/totp";
import { ServiceError } from "@shoal/router";
import type { NewVaultField, VaultField } from "@shoal/schemas";
import type * as z from "zod/mini";
import { passkeyProblem } from "./passkey.ts";

const maxFields = 32;
const maxTextBytes = 16_384;
const maxLabelBytes = 128;

/** An item whose values are in the vault. */
export interface OwnDefinition {
  readonly provider: "kernel";
  readonly fields: readonly VaultField[];
  readonly description?: string;
  /** Canonical. */
  readonly sites?: readonly string[];
}

/** An item with the values of a connection's credential. */
export interface ConnectionDefinition {
  readonly provider: "managed_auth";
  readonly connection_id: string;
  readonly description?: string;
}

export type ItemDefinition = OwnDefinition | ConnectionDefinition;

/** Whether a form has a field for the value. */
export const isCollected = ({ type }: Pick<VaultField, "type">): boolean => type !== "totp" && type !== "passkey";

const bytesOf = (text: string) => Buffer.byteLength(text);

function refuse(refusal: Refusal | undefined): void {
  if (refusal !== undefined) throw ServiceError.of(refusal);
}

/** @param path - of the list in the request. @throws {ServiceError} 400 */
export function requireFields(fields: readonly z.output<typeof NewVaultField>[], path: string): VaultField[] {
  return fields.map(({ label, name, required, sensitive, type }, index) => {
    const field = `${path}[${String(index)}]`;
    if (!sensitive && (type === "password" || !isCollected({ type })))
      throw ServiceError.of(invalid(`${field}.sensitive`, `must be true for a field of type ${type}`));
    if (label !== undefined) refuse(labelProblem(label, `${field}.label`));
    return { name, type, required, sensitive, ...(label !== undefined && { label }) };
  });
}

function labelProblem(label: string, field: string): Refusal | undefined {
  if (bytesOf(label) > maxLabelBytes) return invalid(field, "is too long in UTF-8", { limit: maxLabelBytes });
  return label !== label.trim() || !label.isWellFormed() || /[\p{C}\p{Zl}\p{Zp}]/u.test(label)
    ? invalid(field, "must be one line of text without spaces around it, control and format characters")
    : undefined;
}

/** The rules of a list of fields. @throws {ServiceError} 400 */
export function requireFieldList(fields: readonly VaultField[], path: string): void {
  if (fields.length === 0) throw ServiceError.of(invalid(path, "at least one field must stay"));
  if (fields.length > maxFields)
    throw ServiceError.of(invalid(path, `the item would have ${String(fields.length)} fields`, { limit: maxFields }));
  const names = new Set<string>();
  for (const { name } of fields) {
    if (names.has(name)) throw ServiceError.of(invalid(path, `several fields are named ${name}`));
    names.add(name);
  }
}

/** @throws {ServiceError} 400 */
export function requireDescription(text: string | undefined): string | undefined {
  if (text === undefined || text === "") return undefined;
  if (bytesOf(text) > maxTextBytes)
    throw ServiceError.of(invalid("body.spec.description", "is too long in UTF-8", { limit: maxTextBytes }));
  if (!text.isWellFormed() || text.includes("\0"))
    throw ServiceError.of(invalid("body.spec.description", "must be valid Unicode without NUL characters"));
  return text;
}

/** @throws {ServiceError} 400 */
export function requireSites(sites: readonly string[] | undefined): readonly string[] | undefined {
  if (sites === undefined || sites.length === 0) return undefined;
  return sites.map((text, index) => {
    const site = siteDomain(text);
    if (site !== undefined) return site;
    throw ServiceError.of(
      invalid(`body.spec.sites[${String(index)}]`, "expected a domain, with a port if it has one", {
        hint: "Write example.com or localhost:3000, without https:// and without a path.",
      }),
    );
  });
}

/** @throws {ServiceError} 400 for a value that does not fit its field, without the value. */
export function requireValue(type: string, value: string, field: string): void {
  if (bytesOf(value) > maxTextBytes)
    throw ServiceError.of(invalid(field, "is too long in UTF-8", { limit: maxTextBytes }));
  const problem = valueProblem(type, value);
  if (problem !== undefined) throw ServiceError.of(invalid(field, problem));
}

function valueProblem(type: string, value: string): string | undefined {
  if (value === "") return "must not be empty";
  if (!value.isWellFormed()) return "must be valid Unicode, without half surrogate pairs";
  switch (type) {
    case "email":
      return /^[^\s@]+@[^\s@]+$/.test(value) ? undefined : "expected an email address";
    case "totp":
      return isSeed(value)
        ? undefined
        : "expected the Base32 secret of one-time codes, not a code or an otpauth:// URI";
    case "passkey":
      return passkeyProblem(value);
    default:
      return undefined;
  }
}

/** At least one byte: two characters. */
function isSeed(value: string): boolean {
  return /^[A-Za-z2-7]{2,}=*$/.test(value) && !("problem" in readTotp(value));
}

/** @throws {ServiceError} 400 for fields that need a value and that no form can ask for. */
export function requireSeeds(fields: readonly VaultField[], values: ReadonlySet<string>, path: string): void {
  const missing = fields.find((field) => field.required && !isCollected(field) && !values.has(field.name));
  if (missing === undefined) return;
  throw ServiceError.of(
    invalid(
      path,
      `the required field ${missing.name} of type ${missing.type} needs a value: forms have no field for it`,
    ),
  );
}
