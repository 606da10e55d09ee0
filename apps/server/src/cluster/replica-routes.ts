import { ServiceError } from "@shoal/router";
import type { FastifyInstance } from "fastify";
import { text } from "node:stream/consumers";
import * as z from "zod/mini";
import { liveFieldsPath, type LiveFieldsSource } from "./live-fields.ts";
import { addressHeader, nonceHeader, proofHeader, proofPath } from "./peer-connection.ts";
import type { ReplicaTrust } from "./replica-trust.ts";

const Ids = z.array(z.string());

export function serveReplicas(
  app: FastifyInstance,
  parts: {
    readonly trust: ReplicaTrust;
    readonly serverId: string;
    readonly sessions: LiveFieldsSource;
    readonly address: () => string | null;
  },
): void {
  const { trust, serverId, sessions } = parts;
  app.get(proofPath, { exposeHeadRoute: false }, (request, reply) => {
    const { [nonceHeader]: nonce, [addressHeader]: address } = request.headers;
    if (
      typeof nonce !== "string" ||
      nonce.length < 32 ||
      nonce.length > 255 ||
      typeof address !== "string" ||
      address !== parts.address()
    ) {
      throw new ServiceError(404, "not_found", `GET ${proofPath} is only for servers of this installation.`);
    }
    void reply
      .header(proofHeader, trust.prove({ id: serverId, address }, nonce))
      .code(204)
      .send();
  });
  app.post(liveFieldsPath, async (request, reply) => {
    if (trust.read(request.raw) === undefined)
      throw new ServiceError(404, "not_found", `POST ${liveFieldsPath} is only for servers of this installation.`);
    const fields = sessions.liveFields(Ids.parse(JSON.parse(await text(request.raw))));
    void reply.header("content-type", "application/json").send(JSON.stringify(fields));
    return reply;
  });
}
