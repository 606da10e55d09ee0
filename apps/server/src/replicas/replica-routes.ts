import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import type { Sessions } from "../browsers/sessions.ts";
import { liveFieldsPath } from "./live-fields.ts";
import { addressHeader, nonceHeader, proofHeader, proofPath } from "./peer-connection.ts";
import type { ReplicaTrust } from "./replica-trust.ts";

const Ids = z.array(z.string());

/** Serves what only other servers of this installation ask. */
export function serveReplicas(
  app: FastifyInstance,
  parts: {
    readonly trust: ReplicaTrust;
    readonly serverId: string;
    readonly sessions: Pick<Sessions, "liveFields">;
    readonly address: () => string | null;
  },
): void {
  const { trust, serverId, sessions } = parts;
  app.get(proofPath, { exposeHeadRoute: false }, (request, reply) => {
    const { [nonceHeader]: nonce, [addressHeader]: address } = request.headers;
    if (typeof nonce !== "string" || nonce.length < 32 || nonce.length > 255 || typeof address !== "string" || address !== parts.address()) {
      throw new ServiceError(404, "not_found", `There is no GET ${proofPath} for whoever is no server of this installation.`);
    }
    void reply
      .header(proofHeader, trust.prove({ id: serverId, address }, nonce))
      .code(204)
      .send();
  });
  app.post(liveFieldsPath, async (request, reply) => {
    if (trust.read(request.raw) === undefined)
      throw new ServiceError(404, "not_found", `There is no POST ${liveFieldsPath} for whoever is no server of this installation.`);
    const fields = sessions.liveFields(Ids.parse(JSON.parse(await text(request.raw))));
    void reply.header("content-type", "application/json").send(JSON.stringify(fields));
    return reply;
  });
}
