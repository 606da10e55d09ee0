import type { Feature } from "../host/feature.ts";
import type { RequestOrigins } from "../http/request-origin.ts";
import { packumentOf, type SdkPackages } from "./registry/sdk-packages.ts";

/** The SDK of the running version for `npm install`, without a key. */
export function sdkFeature(sdk: SdkPackages, origins: Pick<RequestOrigins, "baseUrlOf">) {
  return {
    serve(app) {
      app.get("/npm/*", async (request, reply) => {
        const { "*": path = "" } = request.params as { readonly "*"?: string };
        const found = await sdk.find(path);
        if (found === undefined) {
          const names = (await sdk.all()).map(({ name, version }) => `${name} ${version}`).join(", ");
          return reply.code(404).send({ error: `This service has only ${names}.` });
        }
        if (found.isTarball) return reply.type("application/octet-stream").send(found.package.tarball);
        const registry = `${origins.baseUrlOf(request.raw)}/npm/`;
        return reply.header("cache-control", "no-cache").send(packumentOf(found.package, registry));
      });
    },
  } satisfies Feature;
}
