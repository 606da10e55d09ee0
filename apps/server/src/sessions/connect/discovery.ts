import { contract } from "@shoal/contract";
import { createId } from "@shoal/primitives";
import type { FastifyInstance, FastifyRequest } from "fastify";
import type { Access } from "../../http/auth/access.ts";
import { refuseTwoKeys } from "../../http/auth/connect-address.ts";
import { refuseWithoutRights } from "../../http/auth/rights.ts";
import type { Secrets } from "../../storage/secrets.ts";
import { readConnectSettings } from "./connect-settings.ts";
import { signTicket } from "./connect-tickets.ts";

export interface DiscoveryParts {
  readonly authenticate: (request: FastifyRequest) => Access | Promise<Access>;
  readonly baseUrlOf: (request: FastifyRequest) => string;
  readonly secrets: Pick<Secrets, "sign">;
  /** Of Chromium; `undefined` if the server cannot know it. */
  readonly browserVersion: () => Promise<string | undefined>;
}

const ticketLifeMs = 60_000;
const headers = { "cache-control": "no-store", "referrer-policy": "no-referrer" };

function versionFields(version: string | undefined): Readonly<Record<string, string>> {
  const major = version?.split(".", 1)[0];
  return {
    Browser: version === undefined ? "Chrome" : `Chrome/${version}`,
    "Protocol-Version": "1.3",
    ...(major !== undefined && {
      "User-Agent": `Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/${major}.0.0.0 Safari/537.36`,
    }),
    "WebKit-Version": "537.36",
  };
}

/**
 * Clients of Playwright's own protocol that know an address with `http` ask for the path of its socket: it is the path
 * that they asked below. Which session it is, and with which key, is decided at the socket.
 */
function servePlaywrightDiscovery(app: FastifyInstance): void {
  for (const below of ["/playwright", "/chromium/playwright", "/playwright/:browser", "/browsers/:id/playwright"])
    for (const url of [`${below}/json`, `${below}/json/`])
      app.get(url, async (_, reply) => {
        await reply.headers(headers).send({ wsEndpointPath: "" });
      });
}

/** Clients ask `/json/version` for the address of a browser. This creates no session: the connection does. */
export function serveDiscovery(app: FastifyInstance, parts: DiscoveryParts): void {
  servePlaywrightDiscovery(app);
  for (const url of ["/json/version", "/json/version/"]) {
    app.get(url, async (request, reply) => {
      refuseTwoKeys(request.raw);
      const socket = `${parts.baseUrlOf(request).replace(/^http/, "ws")}/devtools/browser`;
      const ticket = request.headers.authorization === undefined ? "" : `?ticket=${await ticketFor(request, parts)}`;
      const fields = versionFields(await parts.browserVersion());
      await reply.headers(headers).send({ ...fields, webSocketDebuggerUrl: socket + ticket });
    });
  }
}

async function ticketFor(request: FastifyRequest, { authenticate, secrets }: DiscoveryParts): Promise<string> {
  const access = await authenticate(request);
  refuseWithoutRights(access, contract.createBrowser);
  const { searchParams } = new URL(request.raw.url ?? "/", "http://shoal.invalid");
  readConnectSettings(searchParams);
  return signTicket(secrets, {
    sessionId: createId(),
    keyId: access.key.id,
    projectId: access.projectId,
    query: searchParams.toString(),
    expiresAtMs: Date.now() + ticketLifeMs,
  });
}
