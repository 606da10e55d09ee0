import { Secret, TOTP } from "otpauth";

/** A generator of one-time codes (RFC 6238). */
export interface Totp extends TotpSettings {
  /** Base32: capital letters and digits, without padding. */
  readonly secret: string;
}

/** How codes are generated. */
export interface TotpSettings {
  readonly algorithm: "SHA1" | "SHA256" | "SHA512";
  /** 6 to 8. */
  readonly digits: number;
  /** Seconds that a code is valid, 1 to 300. */
  readonly period: number;
}

const algorithms = ["SHA1", "SHA256", "SHA512"] as const;

/**
 * Reads a Base32 secret or an `otpauth://totp/` URI. Case, spaces, hyphens and padding of the secret do not matter.
 *
 * @param settings - of a secret, and of a URI that does not name them. Default: SHA1, 6 digits, 30 seconds.
 * @returns the reason instead, without the secret, when the text is neither.
 */
export function readTotp(text: string, settings: Partial<TotpSettings> = {}): Totp | { readonly problem: string } {
  return /^\s*otpauth/i.test(text) ? readUri(text.trim(), settings) : readSecret(text, settings);
}

/** Returns the code at a time. */
export function totpCode(totp: Totp, at: Date): { readonly code: string; readonly expiresAt: Date } {
  const { secret, ...settings } = totp;
  const generator = new TOTP({ ...settings, secret: Secret.fromBase32(secret) });
  const timestamp = at.getTime();
  const periodMs = totp.period * 1000;
  return {
    code: generator.generate({ timestamp }),
    expiresAt: new Date((Math.floor(timestamp / periodMs) + 1) * periodMs),
  };
}

function readSecret(text: string, settings: Partial<Totp>): Totp | { readonly problem: string } {
  const secret = text
    .replaceAll(/[\s\u200b-]/g, "")
    .replace(/(?<!=)=+$/, "")
    .toUpperCase();
  // Two characters are the shortest text of a whole byte.
  if (!/^[A-Z2-7]{2,}$/.test(secret)) return { problem: "expected Base32: letters and the digits 2 to 7" };
  return { algorithm: "SHA1", digits: 6, period: 30, ...settings, secret };
}

function readUri(text: string, settings: Partial<TotpSettings>): Totp | { readonly problem: string } {
  const uri = URL.parse(text);
  if (uri?.protocol !== "otpauth:") return { problem: "expected Base32 or a URI that begins with otpauth://totp/" };
  if (uri.hostname.toLowerCase() !== "totp")
    return { problem: "only time-based codes are supported: the URI must begin with otpauth://totp/" };
  const fields = new Map([...uri.searchParams].map(([name, value]) => [name.toLowerCase(), value]));
  const name = fields.get("algorithm") ?? settings.algorithm ?? "SHA1";
  const algorithm = algorithms.find(
    (known) =>
      known ===
      name
        .toUpperCase()
        .replace(/^HMAC-?/, "")
        .replace("-", ""),
  );
  if (algorithm === undefined)
    return { problem: `algorithm ${JSON.stringify(name.slice(0, 40))} is not one of ${algorithms.join(", ")}` };
  const digits = Number(fields.get("digits") ?? settings.digits ?? 6);
  if (![6, 7, 8].includes(digits)) return { problem: "digits must be 6, 7 or 8" };
  const period = Number(fields.get("period") ?? settings.period ?? 30);
  if (!Number.isInteger(period) || period < 1 || period > 300)
    return { problem: "period must be a whole number of seconds from 1 to 300" };
  return readSecret(fields.get("secret") ?? "", { algorithm, digits, period });
}
