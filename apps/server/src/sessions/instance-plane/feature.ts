import type { FastifyInstance } from "fastify";
import type { Feature } from "../../host/feature.ts";
import { type DirectPlane, serveDirect } from "./direct.ts";

/** Requests to ports and paths of an instance. */
export function directFeature(plane: DirectPlane) {
  return {
    serve(app: FastifyInstance) {
      serveDirect(app, plane);
    },
  } satisfies Feature;
}
