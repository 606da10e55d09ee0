import type { FastifyInstance } from "fastify";
import type { Entering } from "../../host/entering.ts";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { type CollectParts, serveCollect } from "./serve-collect.ts";

/** The form in which a person enters values of an item. */
export function collectFeature({ config }: Host, parts: Omit<CollectParts, "entering" | "frameAncestors">) {
  return {
    serve(app: FastifyInstance, entering: Entering) {
      serveCollect(app, { ...parts, entering, frameAncestors: config.sign_in_frame_ancestors });
    },
  } satisfies Feature;
}
