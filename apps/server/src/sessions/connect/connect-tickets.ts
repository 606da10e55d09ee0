import { isId } from "@shoal/primitives";
import { ServiceError } from "@shoal/router";
import * as z from "zod/mini";
import type { Secrets } from "../../storage/secrets.ts";

const Ticket = z.object({
  /** Of the session that the first connection creates, and later ones join. */
  sessionId: z.string(),
  keyId: z.string(),
  projectId: z.string(),
  /** Settings of the address, without the key. */
  query: z.string(),
  /** For the first connection. */
  expiresAtMs: z.number(),
});

/** Lets clients connect without a key to the address of a discovery. */
export type ConnectTicket = z.output<typeof Ticket>;

const use = "connection tickets";

export function signTicket(secrets: Pick<Secrets, "sign">, ticket: ConnectTicket): string {
  const text = Buffer.from(JSON.stringify(ticket)).toString("base64url");
  return `${text}.${secrets.sign(use, text)}`;
}

/** @throws {ServiceError} 401 for a forged ticket. */
export function openTicket(secrets: Pick<Secrets, "hasSigned">, signed: string): ConnectTicket {
  const [text = "", signature = ""] = signed.split(".", 2);
  if (secrets.hasSigned(use, text, signature)) {
    const ticket = Ticket.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
    if (isId(ticket.sessionId)) return ticket;
  }
  throw new ServiceError(401, "unauthorized", "The ticket of this address is not valid.", {
    hint: "Request /json/version again with a key.",
  });
}
