import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingHttpHeaders } from "node:http";
import * as z from "zod/mini";

/** Carries the origin of a request that this server sends to itself. */
export const ownRequestHeader = "x-shoal-own-request";

const Origin = z.object({
  baseUrl: z.string(),
  viewerUrl: z.optional(z.string()),
  clientIp: z.string(),
  /** The person of the client's access token, which is for another resource than the API, with its rights. */
  person: z.optional(z.object({ id: z.string(), project: z.string(), role: z.enum(["viewer", "operator", "admin"]) })),
});
/** The origin of the client's request. */
export type OwnRequestOrigin = z.output<typeof Origin>;

/** Signs the origin of requests that this server sends to itself for a client. The secret never leaves the process. */
export class OwnRequests {
  readonly #secret = randomBytes(32);

  sign(origin: OwnRequestOrigin): string {
    const text = Buffer.from(JSON.stringify(origin)).toString("base64url");
    return `${text}.${this.#macOf(text).toString("base64url")}`;
  }

  /** `undefined` for requests of clients. */
  read(headers: IncomingHttpHeaders): OwnRequestOrigin | undefined {
    const header = headers[ownRequestHeader];
    if (typeof header !== "string") return undefined;
    const [text = "", mac = ""] = header.split(".", 2);
    const [given, expected] = [Buffer.from(mac, "base64url"), this.#macOf(text)];
    if (given.length !== expected.length || !timingSafeEqual(given, expected)) return undefined;
    return Origin.parse(JSON.parse(Buffer.from(text, "base64url").toString()));
  }

  #macOf(text: string): Buffer {
    return createHmac("sha256", this.#secret).update(text).digest();
  }
}
