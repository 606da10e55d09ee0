import * as z from "zod/mini";
import type { Secrets } from "../../storage/secrets.ts";

const use = "handoff tokens";
const audience = "shoal:handoff";

const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url");
const header = base64url({ alg: "HS256", typ: "JWT" });

const Claims = z.object({
  aud: z.literal(audience),
  sub: z.string(),
  flow: z.string(),
  key: z.string(),
  exp: z.int(),
});

/** The rights of a sign-in page. */
export interface LinkToken {
  readonly connectionId: string;
  readonly flowId: string;
  /** The key that the link was issued to. */
  readonly keyId: string;
  readonly expiresAtMs: number;
}

/** JSON Web Tokens of sign-in pages, signed with a separate key. */
export class LinkTokens {
  readonly #secrets: Pick<Secrets, "hasSigned" | "sign">;

  constructor(secrets: Pick<Secrets, "hasSigned" | "sign">) {
    this.#secrets = secrets;
  }

  /** Returns equal tokens for equal rights, because React in development exchanges a code twice. */
  sign({ connectionId, expiresAtMs, flowId, keyId }: LinkToken): string {
    const exp = Math.ceil(expiresAtMs / 1000);
    const signed = `${header}.${base64url({ aud: audience, sub: connectionId, flow: flowId, key: keyId, exp })}`;
    return `${signed}.${this.#secrets.sign(use, signed)}`;
  }

  /** Returns expired tokens as well. @returns `undefined` for a token that this service has not signed. */
  open(token: string): LinkToken | undefined {
    const [head = "", payload = "", signature = ""] = token.split(".", 4);
    if (head !== header || !this.#secrets.hasSigned(use, `${head}.${payload}`, signature)) return undefined;
    const claims = Claims.safeParse(JSON.parse(Buffer.from(payload, "base64url").toString()));
    if (!claims.success) return undefined;
    const { exp, flow: flowId, key: keyId, sub: connectionId } = claims.data;
    return { connectionId, flowId, keyId, expiresAtMs: exp * 1000 };
  }
}

/** @returns `undefined` for a header with anything but a token of this kind. */
export function linkTokenIn(authorization: string | undefined): string | undefined {
  return /^bearer +(eyJ[\w-]+\.[\w-]+\.[\w-]+)$/i.exec(authorization ?? "")?.[1];
}
