const mask = "***";

/** Names of headers whose whole value opens something. */
const secretHeader =
  /(?:^|-)(?:authorization|cookie2?|token|secret|api-?key|apikey|password|passwd|credentials?|session(?:-?id)?|signature|jwt|assertion)(?:-|$)/i;

/** Names of fields and parameters with passwords, codes, tokens and keys, in the languages of common forms. */
const secretName = String.raw`[\w.\-\[\]%]{0,60}(?:pass(?:wor[dt]|wd|phrase|code|key)?(?![a-z])|pwd|kennwort|contrase|senha|mdp|mot_?de_?passe|wachtwoord|haslo|parol|secret|token|credential|authorization|cookie|api[_-]?key|access[_-]?key|private[_-]?key|otp|totp|mfa|2fa|\bpin|cvv|cvc|card[_-]?number|jwt|bearer|assertion|signature|session[_-]?id|csrf|xsrf|verifier)[\w.\-\[\]%]{0,60}|(?:code|sid|sig|key|auth|state|nonce|SAMLResponse|SAMLRequest)`;

const rules: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // JSON, and JSON inside a JSON text. The end may be cut off.
  [new RegExp(String.raw`("(?:${secretName})"\s*:\s*)"(?:[^"\\]|\\[^])*"?`, "gi"), `$1"${mask}"`],
  [new RegExp(String.raw`(\\"(?:${secretName})\\"\s*:\s*)\\"(?:(?!\\")[^])*`, "gi"), `$1\\"${mask}`],
  [new RegExp(String.raw`("(?:${secretName})"\s*:\s*)-?\d[\w.+-]*`, "gi"), `$1"${mask}"`],
  // Forms and addresses.
  [new RegExp(String.raw`((?:^|[?&#;\s])(?:${secretName})(?:=|%3D))[^&#;\s"'<>]*`, "gi"), `$1${mask}`],
  // Parts of a multipart form.
  [
    new RegExp(
      String.raw`(name="(?:${secretName})"(?:;[^\r\n]*)?(?:\r?\n[^\r\n]{1,300}){0,6}\r?\n\r?\n)[^]*?(?=\r?\n--|$)`,
      "gi",
    ),
    `$1${mask}`,
  ],
  // XML and HTML.
  [new RegExp(String.raw`(<(?:${secretName})(?:\s[^>]{0,200})?>)[^<]*`, "gi"), `$1${mask}`],
  [
    /(<input\b(?=[^>]{0,500}type=["']?(?:password|hidden))[^>]{0,500}?\bvalue=)(?:"[^"]*"|'[^']*'|[^\s>]+)/gi,
    `$1"${mask}"`,
  ],
  // By their own form.
  [/\b(Bearer|Basic|Negotiate|Digest)\s+[\w.~+/=:-]{6,}/gi, `$1 ${mask}`],
  [/\beyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, mask],
  [/\b(?:sk|pk|rk|ghp|gho|ghs|ghu|github_pat|glpat|xox[abprs]|shpat|hvs|AKIA|ASIA|AIza|ya29)[-_.]?[\w-]{16,}/g, mask],
  [/(\b[a-z][a-z0-9+.-]{1,20}:\/\/)[^\s/?#@"']{1,300}@/gi, `$1${mask}@`],
  [/-----BEGIN [A-Z ]*PRIVATE KEY-----[^]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g, mask],
];

/** Replaces passwords, one-time codes, tokens and keys in a text, a body or an address. */
export function maskText(text: string): string {
  let masked = text;
  for (const [pattern, replacement] of rules) masked = masked.replace(pattern, replacement);
  return masked;
}

/** For `JSON.stringify`: masks headers by their names, and all other texts by {@link maskText}. */
export function maskSecrets(name: string, value: unknown): unknown {
  if (name === "headers" && typeof value === "object" && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([header, text]: [string, unknown]) => [
        header,
        secretHeader.test(header) ? mask : text,
      ]),
    );
  return typeof value === "string" ? maskText(value) : value;
}
