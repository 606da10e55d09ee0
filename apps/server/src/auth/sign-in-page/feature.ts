import type { FastifyInstance } from "fastify";
import type { Feature } from "../../host/feature.ts";
import type { Host } from "../../host/host.ts";
import { serveSignInPage } from "./sign-in-page.ts";

export function signInPageFeature({ config }: Host) {
  return {
    serve(app: FastifyInstance) {
      serveSignInPage(app, config.sign_in_frame_ancestors);
    },
  } satisfies Feature;
}
