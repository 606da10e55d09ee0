import type { ActOnPage } from "@shoal/schemas";
import { durationMs } from "../../core/duration.ts";
import { UsageError } from "../../core/errors.ts";

/** A number alone is seconds. */
export function millisecondsOf(text: string, flag: string): number {
  const ms = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) * 1000 : durationMs(text);
  if (ms === undefined) throw new UsageError(`${flag} must be a duration such as 500ms, 10s, 10m or 1h30m.`);
  return Math.round(ms);
}

export function targetOf(element: string): { ref: string } | { selector: string } {
  return /^e\d+$/.test(element) ? { ref: element } : { selector: element };
}

export function refOf(element: string): string {
  if (!/^e\d+$/.test(element)) throw new UsageError("Name the element by its reference, such as e12.");
  return element;
}

export function numberOf(text: string, flag: string): number {
  const number = Number(text);
  if (text.trim() === "" || !Number.isInteger(number)) throw new UsageError(`${flag} must be a whole number.`);
  return number;
}

export function objectOf(text: string): object {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value;
  } catch {
    // Answered below.
  }
  throw new UsageError(`The arguments must be a JSON object, such as '{"query":"herring"}'.`);
}

/** The text of a field, or with `--secret` a value of a stored credential. @throws {UsageError} for both, and for none. */
export function filledBy(text: string | undefined, secret: string | undefined): Pick<ActOnPage, "secret" | "text"> {
  if (secret === undefined) {
    if (text === undefined) throw new UsageError("Pass a text, or a stored value with --secret CREDENTIAL/FIELD.");
    return { text };
  }
  if (text !== undefined) throw new UsageError("Pass either a text or --secret.");
  const [, credential, field] = /^(.+)\/([^/]+)$/.exec(secret) ?? [];
  if (credential === undefined || field === undefined)
    throw new UsageError("--secret takes CREDENTIAL/FIELD, for example shop/password.");
  return { secret: { credential, field } };
}
