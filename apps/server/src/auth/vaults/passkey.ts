import { createPrivateKey } from "node:crypto";
import * as z from "zod/mini";

const base64url = z.string().check(z.regex(/^[A-Za-z0-9_-]+$/));
/** The members of the FIDO credential exchange format that sign-in needs. */
const Passkey = z.object({
  credentialId: base64url,
  userHandle: base64url,
  key: base64url,
  rpId: z.string().check(z.regex(/^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/)),
});
const maxUserHandleBytes = 64;

/** @returns why a text is not a passkey, without its content. */
export function passkeyProblem(text: string): string | undefined {
  const parsed = Passkey.safeParse(parse(text));
  if (!parsed.success)
    return "expected a passkey of the FIDO exchange format: JSON with credentialId, userHandle, key and rpId";
  const { key, userHandle } = parsed.data;
  if (Buffer.from(userHandle, "base64url").length > maxUserHandleBytes) return "userHandle has more than 64 bytes";
  try {
    const { asymmetricKeyDetails } = createPrivateKey({
      key: Buffer.from(key, "base64url"),
      format: "der",
      type: "pkcs8",
    });
    if (asymmetricKeyDetails?.namedCurve === "prime256v1") return undefined;
  } catch {
    // Reported below.
  }
  return "key must be a PKCS#8 private key of the curve P-256";
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
